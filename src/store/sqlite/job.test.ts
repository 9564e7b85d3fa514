import assert from "node:assert/strict";
import { test } from "node:test";
import { type PackedChange, packed, unpacked } from "./job.ts";

test("unpacked changes equal the packed ones", () => {
  const changes: PackedChange[] = [
    { created: 7, before: 0, expires: 0, value: Uint8Array.of(1, 2, 3) },
    { created: -3, before: 5, expires: 0, value: null },
    { created: 2 ** 52, before: 2 ** 51, expires: Date.UTC(2100), value: new Uint8Array() },
    { created: 9, before: 8, expires: 1, value: Uint8Array.of(255) },
  ];
  assert.deepEqual([...unpacked(packed(changes), changes.length)], changes);
  assert.deepEqual([...unpacked(packed([]), 0)], []);
});
