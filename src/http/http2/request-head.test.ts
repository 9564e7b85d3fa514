import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestHead } from "./request-head.ts";

const headOf = (...names: readonly string[]): RequestHead => {
  const head = new RequestHead(10_000, 1000);
  for (const name of names) head.add({ name, value: `of ${name}`, problem: undefined });
  return head;
};

test("names of inherited object properties are ordinary fields", () => {
  const { headers, malformed } = headOf("__proto__", "constructor", "accept");
  assert.equal(malformed, undefined);
  assert.deepEqual(Object.entries(headers), [
    ["__proto__", "of __proto__"],
    ["constructor", "of constructor"],
    ["accept", "of accept"],
  ]);
});

test("missing fields are undefined, whatever their name", () => {
  const { headers } = headOf("accept");
  assert.equal(headers["__proto__"], undefined);
  assert.equal(headers["constructor"], undefined);
  assert.equal("hasOwnProperty" in headers, false);
});
