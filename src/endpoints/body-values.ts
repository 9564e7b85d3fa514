// How much a body may hold. Work on an object grows with its values, not with its bytes: millions of empty
// objects fit into a few mebibytes.
import { tooLarge } from "#base";

/**
 * Texts, numbers, lists and objects, at any depth. Objects of a mebibyte and a half, the most that is stored,
 * seldom have a third as many.
 */
export const mostValues = 100_000;

/** The same in the binary form, where clients also send what is empty. */
export const mostFields = 250_000;

/**
 * Refuses a JSON body with too many values. A body in another form passes; it is counted by whoever reads it.
 */
export function refuseTooManyValues(bytes: Uint8Array): void {
  if (bytes.length > mostValues && isJson(bytes) && hasMore(bytes))
    throw tooLarge(`Request entity too large: limit is ${mostValues} values`);
}

const [openingBrace, openingBracket, comma, quote, backslash] = [0x7b, 0x5b, 0x2c, 0x22, 0x5c];
const blanks: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

function isJson(bytes: Uint8Array): boolean {
  let at = 0;
  while (blanks.includes(bytes[at])) at++;
  return bytes[at] === openingBrace || bytes[at] === openingBracket;
}

/** Every value but the first stands behind a comma or a bracket. */
function hasMore(bytes: Uint8Array): boolean {
  let found = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++;
    } else if ((byte === comma || byte === openingBrace || byte === openingBracket) && ++found > mostValues)
      return true;
  }
  return false;
}
