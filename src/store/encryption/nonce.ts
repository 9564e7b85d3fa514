// Random nonces, drawn in bulk: a system call for each costs more than encrypting a small value.
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Returns unique random bytes. They are a view of the pool and valid until the caller yields, so they must be
 * copied.
 */
export function randomNonce(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.subarray(used, (used += bytes));
}
