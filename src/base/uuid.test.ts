import assert from "node:assert/strict";
import { test } from "node:test";
import { newUuid } from "./uuid.ts";

test("UUIDs are of version 4 and unique", () => {
  const made = new Set<string>();
  for (let i = 0; i < 1000; i++) {
    const uid = newUuid();
    assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    made.add(uid);
  }
  assert.equal(made.size, 1000);
});

test("all random bits vary", () => {
  const seen = Array.from({ length: 36 }, () => new Set<string>());
  for (let i = 0; i < 1000; i++)
    for (const [at, letter] of newUuid().split("").entries()) seen[at]!.add(letter);
  for (const [at, letters] of seen.entries()) {
    const expected = [8, 13, 18, 23, 14].includes(at) ? 1 : at === 19 ? 4 : 16;
    assert.equal(letters.size, expected, `letter ${at}`);
  }
});
