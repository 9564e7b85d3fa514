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
 * Refuses a JSON body with too many values. A body in another form passes; it is counted by whoever reads it. One
 * that nests deeper than any reader goes is cut there: the reader says so without having to go through the rest.
 */
export function limitValues(bytes: Uint8Array): Uint8Array {
  return bytes.length > mostValues && isJson(bytes) ? counted(bytes) : bytes;
}

const deepest = 10_000;
const [openingBrace, openingBracket, comma, quote, backslash] = [0x7b, 0x5b, 0x2c, 0x22, 0x5c];
const [closingBrace, closingBracket] = [0x7d, 0x5d];
const blanks: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

function isJson(bytes: Uint8Array): boolean {
  let at = 0;
  while (blanks.includes(bytes[at])) at++;
  return bytes[at] === openingBrace || bytes[at] === openingBracket;
}

/** Every value but the first stands behind a comma or a bracket. */
function counted(bytes: Uint8Array): Uint8Array {
  let found = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++;
    } else if (byte === openingBrace || byte === openingBracket) {
      found++;
      if (++depth > deepest) return bytes.subarray(0, at + 1);
    } else if (byte === comma) found++;
    else if (byte === closingBrace || byte === closingBracket) depth--;
    if (found > mostValues) throw tooLarge(`Request entity too large: limit is ${mostValues} values`);
  }
  return bytes;
}
