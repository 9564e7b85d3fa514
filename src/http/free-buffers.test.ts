// Memory is freed immediately, but only if nothing else uses it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBuffers } from "./free-buffers.ts";

const kib = 1024;

test("the memory of a long buffer is freed", () => {
  const long = Buffer.allocUnsafeSlow(64 * kib);
  freeBuffers([long]);
  assert.equal(long.length, 0);
});

test("a short buffer is kept, as its memory may be shared", () => {
  const short = Buffer.from("x".repeat(100));
  freeBuffers([short]);
  assert.equal(short.toString(), "x".repeat(100));
});

test("a part of a larger buffer is kept, as the rest may be in use", () => {
  const whole = Buffer.alloc(256 * kib, "x");
  freeBuffers([whole.subarray(0, 64 * kib)]);
  assert.equal(whole.length, 256 * kib);
});

test("a buffer from Node's pool is never freed", () => {
  const lent = Array.from({ length: 8 }, () => Buffer.allocUnsafe((Buffer.poolSize >>> 1) - 8).fill("x"));
  freeBuffers(lent.slice(0, 4));
  assert.ok(lent.every(({ length }) => length === (Buffer.poolSize >>> 1) - 8));
});
