// Random UUIDs of version 4 (RFC 9562). Unlike those of node:crypto, each is a contiguous string (see
// flat-text.ts).
import { randomFillSync } from "node:crypto";

const uidBytes = 16;
const pool = Buffer.allocUnsafeSlow(256 * uidBytes);
let used = pool.length;

const digits = Buffer.from("0123456789abcdef");
const text = Buffer.alloc(36, "-");
/** Positions of the digits of each byte: groups of 4, 2, 2, 2 and 6 bytes. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

export function newUuid(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  for (let at = 0; at < uidBytes; at++) {
    let byte = pool[used + at]!;
    // Erase the random bytes: they are not needed again.
    pool[used + at] = 0;
    if (at === 6) byte = (byte & 0x0f) | 0x40;
    if (at === 8) byte = (byte & 0x3f) | 0x80;
    const place = places[at]!;
    text[place] = digits[byte >> 4]!;
    text[place + 1] = digits[byte & 0x0f]!;
  }
  used += uidBytes;
  return text.toString("latin1");
}
