// Continue tokens: where a list stopped and which state it was a list of. Opaque to clients, readable to us.
import { badRequest, jsonKind, own } from "#base";
import { parseJson } from "#schema";

export interface Position {
  /** The revision of the first page; -1 to go on with whatever is there now. */
  readonly revision: number;
  /** The last key returned, from where the list begins. */
  readonly after: string;
}

const version = "meta/v1";
/** Whoever makes tokens by hand names the group with a domain. */
const readable = /^meta(?:\.[a-z0-9.]+)?\/v1$/;

export const encodeContinue = ({ revision, after }: Position): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${after}\0` })).toString("base64url");

export function decodeContinue(token: string): Position {
  const bad = (why: string): Error => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let parsed: unknown;
  const wrong = wrongByte(token);
  if (wrong >= 0) throw bad(`illegal base64 data at input byte ${wrong}`);
  const bytes = Buffer.from(token, "base64url");
  try {
    parsed = parseJson(bytes.toString()).value;
  } catch {
    throw bad(jsonProblem(bytes));
  }
  const mistake = wrongType(parsed);
  if (mistake) throw bad(`json: cannot unmarshal ${mistake}`);
  const { v, rv, start } = { v: "", rv: 0, start: "", ...withoutNulls(parsed ?? {}) };
  if (!readable.test(v)) throw bad(`server does not recognize this encoded version ${v}`);
  if (!rv) throw bad(`incorrect encoded start resourceVersion (version ${v})`);
  if (!start) throw bad(`encoded start key empty (version ${v})`);
  // Nobody leaves the prefix of a list by its key.
  if (/(^|\/)\.\.?(\/|$)|.\/(\/|$)/.test(start)) throw bad(start);
  return { revision: Math.max(rv, -1), after: start.replace(/\0$/, "") };
}

const withoutNulls = (token: object): object =>
  Object.fromEntries(Object.entries(token).filter(([, value]) => value !== null));

const fields = { v: "string", rv: "number", start: "string" } as const;

/** Which value is of another type than its field, in Go's words. */
function wrongType(token: unknown): string | undefined {
  if (token === null) return undefined;
  if (typeof token !== "object" || Array.isArray(token))
    return `${jsonKind(token)} into Go value of type storage.continueToken`;
  for (const [name, value] of Object.entries(token)) {
    const type = own(fields, name);
    if (type === undefined || value === null) continue;
    const isWhole = type === "string" || Number.isSafeInteger(value);
    if (typeof value === type && isWhole) continue;
    const isNumber = typeof value === "number" || typeof value === "bigint";
    const shown = isNumber ? `number${type === "number" ? ` ${value}` : ""}` : jsonKind(value);
    return `${shown} into Go struct field continueToken.${name} of type ${type === "number" ? "int64" : type}`;
  }
  return undefined;
}

/** What is wrong with a document, with the byte at fault as a character. */
function jsonProblem(bytes: Buffer): string {
  try {
    parseJson(bytes.toString("latin1"));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Where a token is no base64; -1 if it is. A last character that is alone belongs to nothing. */
function wrongByte(token: string): number {
  const stray = token.search(/[^A-Za-z0-9_\-\r\n]/);
  return stray < 0 && token.replace(/[\r\n]/g, "").length % 4 === 1 ? token.length - 1 : stray;
}
