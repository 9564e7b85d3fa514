// Keys are ordered by their UTF-8 bytes, as in etcd. That differs from JavaScript's string order only where a
// surrogate pair (U+10000 and up) is compared with a code unit from U+E000 to U+FFFF.

import type { Range, Revision, Write } from "./store.ts";

const high = /[\ud800-\uffff]/;

/** Reports whether JavaScript's string comparison orders this key correctly against every other such key. */
export const isPlainKey = (key: string): boolean => !high.test(key);

/** Returns a negative number, zero or a positive number if `a` sorts before, equals, or sorts after `b`. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return weight(x) - weight(y);
  }
  return a.length - b.length;
}

// Surrogates encode code points above every other code unit.
const weight = (unit: number): number =>
  unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;

/** Reports whether a change of `key` belongs to the range. */
export const inRange = (range: Range, key: string): boolean =>
  "key" in range
    ? range.key === key
    : key.startsWith(range.prefix) && (range.after === undefined || compareKeys(key, range.after) > 0);

/** Reports whether a write's precondition holds for the key's current revision (zero if it is absent). */
export const expectationHolds = (expect: Write["expect"], current: Revision): boolean =>
  expect === "any" || (expect === "absent" ? current === 0 : current === expect);

/** Throws for a write that no backend can store. */
export function checkWrite(write: Write): void {
  checkKey(write.key);
  if (write.key === "") throw new TypeError("a key must not be empty");
  for (const { key } of write.consumes ?? [])
    if (key === write.key) throw new TypeError("a write cannot consume what it writes");
  const { ttlSeconds } = write;
  if (ttlSeconds !== undefined && !(ttlSeconds >= 0 && ttlSeconds < 1e10))
    throw new RangeError(`ttlSeconds must be a number of seconds, not ${ttlSeconds}`);
}

/** Throws for a range that keys cannot be compared with. */
export function checkRange(range: Range): void {
  if ("key" in range) checkKey(range.key);
  else {
    checkKey(range.prefix);
    if (range.after !== undefined) checkKey(range.after);
  }
}

function checkKey(key: string): void {
  if (!key.isWellFormed())
    throw new TypeError(`the key ${JSON.stringify(key)} has half a surrogate pair and no UTF-8 form`);
}
