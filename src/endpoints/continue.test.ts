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
  test(`a token preserves its position: ${JSON.stringify(position)}`, () =>
    assert.deepEqual(decodeContinue(encodeContinue(position)), position));

test("a token needs no escaping in a URL", () =>
  assert.match(encodeContinue({ revision: 5, after: "default/…????>>>>" }), /^[A-Za-z0-9_-]+$/));

const good = { v: "meta/v1", rv: 5, start: "default/a\0" };
const bad: [name: string, token: string, message: RegExp][] = [
  ["invalid base64", "ab!!", /: illegal base64 data at input byte 2$/],
  ["an incomplete byte", "abcde", /: illegal base64 data at input byte 4$/],
  ["invalid JSON", token("nonsense"), /: invalid character 'o' in literal null \(expecting 'u'\)$/],
  ["a list", token([]), /: json: cannot unmarshal array into Go value of type storage\.continueToken$/],
  ["null", token("null"), /does not recognize this encoded version/],
  ["a number", token("5"), /: json: cannot unmarshal number into Go value of type storage\.continueToken$/],
  ["nothing but nulls", token({ v: null, rv: null }), /does not recognize this encoded version $/],
  ["another version", token({ ...good, v: "meta/v2" }), /does not recognize this encoded version/],
  ["no revision", token({ ...good, rv: undefined }), /incorrect encoded start resourceVersion/],
  [
    "revision zero",
    token({ ...good, rv: 0 }),
    /incorrect encoded start resourceVersion \(version meta\/v1\)$/,
  ],
  [
    "a fractional revision",
    token({ ...good, rv: 1.5 }),
    /number 1\.5 into Go struct field continueToken\.rv of type int64$/,
  ],
  [
    "a revision as a string",
    token({ ...good, rv: "5" }),
    /string into Go struct field continueToken\.rv of type int64$/,
  ],
  [
    "a revision out of range",
    token({ ...good, rv: 2 ** 60 }),
    /number 1152921504606847000 into Go struct field continueToken\.rv/,
  ],
  ["no key", token({ ...good, start: undefined }), /encoded start key empty/],
  ["an empty key", token({ ...good, start: "" }), /encoded start key empty/],
  [
    "a key that is a number",
    token({ ...good, start: 5 }),
    /number into Go struct field continueToken\.start of type string$/,
  ],
  ["a key with path traversal", token({ ...good, start: "../secrets/a" }), /is not valid: \.\.\/secrets\/a$/],
  ["a key with an empty part", token({ ...good, start: "default//a" }), /is not valid: default\/\/a$/],
  [
    "a key with later path traversal",
    token({ ...good, start: "default/../../secrets/a" }),
    /is not valid: default\/\.\.\/\.\.\/secrets\/a$/,
  ],
];
for (const [name, given, message] of bad) {
  test(`a token with ${name} is rejected`, () =>
    assert.throws(
      () => decodeContinue(given),
      (error) => error instanceof ApiError && error.code === 400 && message.test(error.message),
    ));
}

test("the group in a token may have a domain, and any negative revision means the current state", () => {
  assert.deepEqual(decodeContinue(token({ ...good, v: "meta.example.com/v1", rv: -2 })), {
    revision: -1,
    after: "default/a",
  });
});
