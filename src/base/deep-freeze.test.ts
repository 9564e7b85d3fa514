import assert from "node:assert/strict";
import { test } from "node:test";
import { deepFreeze } from "./deep-freeze.ts";

test("frozen data refuses every change, however deep", () => {
  const data = deepFreeze({ a: { b: [{ c: 1 }] }, d: [] as number[] });
  assert.throws(() => (data.a.b[0]!.c = 2), TypeError);
  assert.throws(() => data.d.push(1), TypeError);
  assert.throws(() => delete (data as { a?: unknown }).a, TypeError);
  assert.deepEqual(data, { a: { b: [{ c: 1 }] }, d: [] });
});
