import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { decodeContinue, encodeContinue } from "./continue.ts";

const token = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

const positions = [
  { revision: 5, after: "default/a" },
  { revision: -1, after: "default/a" },
  { revision: Number.MAX_SAFE_INTEGER, after: "ünïcode/…" },
];
for (const position of positions)
  test(`a token says where it was: ${JSON.stringify(position)}`, () =>
    assert.deepEqual(decodeContinue(encodeContinue(position)), position));

test("a token can stand in a URL as it is", () =>
  assert.match(encodeContinue({ revision: 5, after: "default/…????>>>>" }), /^[A-Za-z0-9_-]+$/));

const good = { v: "meta/v1", rv: 5, start: "default/a\0" };
const bad: [name: string, token: string, message: RegExp][] = [
  ["no base64", "ab!!", /: illegal base64 data at input byte 2$/],
  ["half a byte", "abcde", /: illegal base64 data at input byte 4$/],
  ["no JSON", token("nonsense"), /: invalid character 'o' in literal null \(expecting 'u'\)$/],
  ["a list", token([]), /does not recognize this encoded version/],
  ["null", token("null"), /does not recognize this encoded version/],
  ["a number", token("5"), /does not recognize this encoded version/],
  ["another version", token({ ...good, v: "meta/v2" }), /does not recognize this encoded version/],
  ["no revision", token({ ...good, rv: undefined }), /incorrect encoded start resourceVersion/],
  ["revision zero", token({ ...good, rv: 0 }), /incorrect encoded start resourceVersion/],
  ["half a revision", token({ ...good, rv: 1.5 }), /incorrect encoded start resourceVersion/],
  ["a revision as text", token({ ...good, rv: "5" }), /incorrect encoded start resourceVersion/],
  [
    "a revision too large to count",
    token({ ...good, rv: 2 ** 60 }),
    /incorrect encoded start resourceVersion/,
  ],
  ["no key", token({ ...good, start: undefined }), /encoded start key empty/],
  ["an empty key", token({ ...good, start: "" }), /encoded start key empty/],
  ["a key that is a number", token({ ...good, start: 5 }), /encoded start key empty/],
  ["a key that climbs out", token({ ...good, start: "../secrets/a" }), /may not leave its prefix/],
  ["a key with an empty part", token({ ...good, start: "default//a" }), /may not leave its prefix/],
  [
    "a key that climbs out later",
    token({ ...good, start: "default/../../secrets/a" }),
    /may not leave its prefix/,
  ],
];
for (const [name, given, message] of bad) {
  test(`a token with ${name} is refused`, () =>
    assert.throws(
      () => decodeContinue(given),
      (error) => error instanceof ApiError && error.code === 400 && message.test(error.message),
    ));
}

test("tokens made by hand name the group in full, and any negative revision stands for now", () => {
  assert.deepEqual(decodeContinue(token({ ...good, v: "meta.example.com/v1", rv: -2 })), {
    revision: -1,
    after: "default/a",
  });
});
