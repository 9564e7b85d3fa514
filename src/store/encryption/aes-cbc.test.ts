import assert from "node:assert/strict";
import { test } from "node:test";
import { aesCbc } from "./aes-cbc.ts";

test("AES-CBC opens sealed values and refuses truncated ones", () => {
  const provider = aesCbc("k", Buffer.alloc(32, 1));
  const value = Buffer.from("a value of some length");
  const sealed = provider.seal(value, "/x") as Uint8Array;
  assert.deepEqual(Buffer.from(provider.open(sealed, "/x") as Uint8Array), value);
  assert.notDeepEqual(provider.seal(value, "/x"), sealed);
  assert.throws(() => provider.open(sealed.subarray(0, 20), "/x"), /cut short/);
});
