// Limits the number of values in a body. Processing an object takes time proportional to its values, not its
// bytes: millions of empty objects fit into a few mebibytes.
import { tooLarge } from "#base";

/**
 * Maximum number of strings, numbers, lists and objects, at any depth. Objects of the maximum stored size,
 * 1.5 MiB, seldom have a third of it.
 */
export const maxValues = 100_000;

/** The limit for the binary form, in which clients also send empty fields. */
export const maxFields = 250_000;

/**
 * Rejects a JSON body with too many values. Bodies in other forms are passed; their decoders count. A body
 * nested deeper than any decoder accepts is truncated there: the decoder rejects it without reading the rest.
 */
export function limitValues(bytes: Uint8Array): Uint8Array {
  return bytes.length > maxValues && isJson(bytes) ? countValues(bytes) : bytes;
}

const maxDepth = 10_000;
const [openingBrace, openingBracket, comma, quote, backslash] = [0x7b, 0x5b, 0x2c, 0x22, 0x5c];
const [closingBrace, closingBracket] = [0x7d, 0x5d];
const blanks: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

function isJson(bytes: Uint8Array): boolean {
  let at = 0;
  while (blanks.includes(bytes[at])) at++;
  return bytes[at] === openingBrace || bytes[at] === openingBracket;
}

/** Counts commas and brackets: every value but the first follows one. */
function countValues(bytes: Uint8Array): Uint8Array {
  let found = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++;
    } else if (byte === openingBrace || byte === openingBracket) {
      found++;
      if (++depth > maxDepth) return bytes.subarray(0, at + 1);
    } else if (byte === comma) found++;
    else if (byte === closingBrace || byte === closingBracket) depth--;
    if (found > maxValues) throw tooLarge(`Request entity too large: limit is ${maxValues} values`);
  }
  return bytes;
}
