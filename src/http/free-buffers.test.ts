// Memory is freed immediately, but only if nothing else uses it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBuffers } from "./free-buffers.ts";

const kib = 1024;

test("gives back the memory of a long buffer", () => {
  const long = Buffer.allocUnsafeSlow(64 * kib);
  freeBuffers([long]);
  assert.equal(long.length, 0);
});

test("a short buffer stays: others may be in the same memory", () => {
  const short = Buffer.from("x".repeat(100));
  freeBuffers([short]);
  assert.equal(short.toString(), "x".repeat(100));
});

test("a part of a larger buffer stays: the rest may be somebody's", () => {
  const whole = Buffer.alloc(256 * kib, "x");
  freeBuffers([whole.subarray(0, 64 * kib)]);
  assert.equal(whole.length, 256 * kib);
});

test("nothing that Node lends from its pool is taken for a buffer of its own", () => {
  const lent = Array.from({ length: 8 }, () => Buffer.allocUnsafe((Buffer.poolSize >>> 1) - 8).fill("x"));
  freeBuffers(lent.slice(0, 4));
  assert.ok(lent.every(({ length }) => length === (Buffer.poolSize >>> 1) - 8));
});
