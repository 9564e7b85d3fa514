// Continue tokens: where a list stopped and which state it was a list of. Opaque to clients, readable to us.
import { badRequest } from "#base";
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
  let parsed: { v?: unknown; rv?: unknown; start?: unknown };
  const wrong = wrongByte(token);
  if (wrong >= 0) throw bad(`illegal base64 data at input byte ${wrong}`);
  const bytes = Buffer.from(token, "base64url");
  try {
    parsed = parseJson(bytes.toString()).value as typeof parsed;
  } catch {
    throw bad(jsonProblem(bytes));
  }
  if (
    typeof parsed !== "object" ||
    parsed === null ||
    typeof parsed.v !== "string" ||
    !readable.test(parsed.v)
  )
    throw bad(
      `server does not recognize this encoded version ${typeof parsed?.v === "string" ? parsed.v : ""}`,
    );
  if (typeof parsed.rv !== "number" || !Number.isSafeInteger(parsed.rv) || parsed.rv === 0)
    throw bad("incorrect encoded start resourceVersion");
  if (typeof parsed.start !== "string" || parsed.start === "") throw bad("encoded start key empty");
  if (/(^|\/)\.\.?(\/|$)|.\/(\/|$)/.test(parsed.start)) throw bad(`the start key may not leave its prefix`);
  return { revision: Math.max(parsed.rv, -1), after: parsed.start.replace(/\0$/, "") };
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
