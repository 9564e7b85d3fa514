// Continue tokens: the position and the revision at which a list continues. Opaque to clients.
import { badRequest, jsonKind, own } from "#base";
import { parseJson } from "#schema";

export interface Position {
  /** The revision of the first page; -1 to continue with the current state. */
  readonly revision: number;
  /** The last key returned, relative to the prefix of the list. */
  readonly after: string;
}

const version = "meta/v1";
/** Tokens written by other servers may have a group with a domain. */
const readable = /^meta(?:\.[a-z0-9.]+)?\/v1$/;

export const encodeContinue = ({ revision, after }: Position): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${after}\0` })).toString("base64url");

export function decodeContinue(token: string): Position {
  const bad = (why: string): Error => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let parsed: unknown;
  const wrong = invalidByte(token);
  if (wrong >= 0) throw bad(`illegal base64 data at input byte ${wrong}`);
  const bytes = Buffer.from(token, "base64url");
  try {
    parsed = parseJson(bytes.toString()).value;
  } catch {
    throw bad(jsonProblem(bytes));
  }
  const mistake = typeMismatch(parsed);
  if (mistake) throw bad(`json: cannot unmarshal ${mistake}`);
  const { v, rv, start } = { v: "", rv: 0, start: "", ...withoutNulls(parsed ?? {}) };
  if (!readable.test(v)) throw bad(`server does not recognize this encoded version ${v}`);
  if (!rv) throw bad(`incorrect encoded start resourceVersion (version ${v})`);
  if (!start) throw bad(`encoded start key empty (version ${v})`);
  // Path traversal: the key must not leave the prefix of the list.
  if (/(^|\/)\.\.?(\/|$)|.\/(\/|$)/.test(start)) throw bad(start);
  return { revision: Math.max(rv, -1), after: start.replace(/\0$/, "") };
}

const withoutNulls = (token: object): object =>
  Object.fromEntries(Object.entries(token).filter(([, value]) => value !== null));

const fields = { v: "string", rv: "number", start: "string" } as const;

/** Returns Go's error for a field of the wrong type. */
function typeMismatch(token: unknown): string | undefined {
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

/** Returns the syntax error of a document, with the offending byte as a character. */
function jsonProblem(bytes: Buffer): string {
  try {
    parseJson(bytes.toString("latin1"));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the position of invalid base64 in a token, or -1. A single trailing character is invalid, too. */
function invalidByte(token: string): number {
  const stray = token.search(/[^A-Za-z0-9_\-\r\n]/);
  return stray < 0 && token.replace(/[\r\n]/g, "").length % 4 === 1 ? token.length - 1 : stray;
}
