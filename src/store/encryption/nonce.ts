// Random nonces. Asking the system for each one costs more than encrypting a small value: many are drawn at once.
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Bytes that nobody else gets; good until the caller gives up control, so they are copied into what is sealed. */
export function randomNonce(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.subarray(used, (used += bytes));
}
