import assert from "node:assert/strict";
import { test } from "node:test";
import { randomNonce } from "./nonce.ts";

test("nonces have the requested length and do not repeat", () => {
  const seen = new Set(
    Array.from({ length: 2000 }, (_, at) => randomNonce(at % 2 ? 12 : 24).toString("hex")),
  );
  assert.equal(seen.size, 2000);
  assert.deepEqual(new Set([...seen].map(({ length }) => length)), new Set([24, 48]));
});
