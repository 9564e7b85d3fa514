// Continue tokens: where a list stopped and which state it was a list of. Opaque to clients, readable to us.
import { badRequest } from "#base";

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
  try {
    parsed = JSON.parse(Buffer.from(token, "base64url").toString()) as typeof parsed;
  } catch {
    throw bad("it cannot be decoded");
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
