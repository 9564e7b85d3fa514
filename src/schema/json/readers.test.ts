// Compares the fast and the careful decoder on almost valid documents: same value, same findings, or same
// error.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  apiPackage,
  bool,
  bytes,
  double,
  duration,
  embedded,
  int32,
  int64,
  intOrString,
  json,
  list,
  map,
  microTime,
  optional,
  pointer,
  quantity,
  rawExtension,
  required,
  string,
  time,
} from "../shape.ts";
import { type Decoded, decodeCarefully, decodeJson, encodeJson } from "./codec.ts";
import { countKeys } from "./scan.ts";

const { kind, message } = apiPackage({ package: "api.test.v1" });
const Inner = message("Inner", "", {
  name: optional(1, string, ""),
  port: optional(2, intOrString, ""),
  share: optional(3, double, ""),
});
const Outer = kind("Outer", "", {
  labels: optional(1, map(string), ""),
  items: optional(2, list(Inner), ""),
  inner: embedded(3, Inner, ""),
  count: required(4, int32, ""),
  size: pointer(5, int64, ""),
  on: optional(6, bool, ""),
  args: optional(7, list(string), ""),
  ids: optional(8, list(int64), ""),
  limits: optional(9, map(quantity), ""),
  made: optional(10, time, ""),
  seen: optional(11, microTime, ""),
  wait: optional(12, duration, ""),
  data: optional(13, map(bytes), ""),
  raw: optional(14, rawExtension, ""),
  any: optional(15, json, ""),
});

const names =
  "labels items inner count size on args ids limits made seen wait data raw any name port share".split(" ");
/** JSON literals: valid for one field and invalid for the next. */
const literals = fc.oneof(
  fc.constantFrom(
    "null", "true", "false", "0", "-0", "1", "1.0", "1e3", "1E+2", "2147483648", "9007199254740993",
    "-9223372036854775808", "9223372036854775808", "0.1", "1e400", "[]", "{}", '""', '"a"', '"1.5"', '"1Gi"',
    '"1h"', '"2020-01-01T00:00:00Z"', '"2020-01-01T00:00:00.123456Z"', '"aGk="', '"\\u00e9\\n"', '"\\ud83d"',
    '"\\ud83d\\ude00"', '"a\\":1"', '":"', "12345678901234567",
  ),
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
); // prettier-ignore
const keys = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom("unknown", "__proto__", "", "Labels", "a.b", "toString") },
);
const space = fc.constantFrom("", "", "", " ", "\n ");
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    literals,
    fc
      .array(fc.tuple(keys, space, tie("value")), { maxLength: 5 })
      .map((pairs) => `{${pairs.map(([key, gap, text]) => `${JSON.stringify(key)}${gap}:${gap}${text}`).join(",")}}`),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(", ")}]`),
  ),
})); // prettier-ignore
/** Documents in which most fields have their declared type. */
const fitting = fc.record(
  {
    kind: fc.constant('"Outer"'),
    labels: fc.constantFrom('{"a":"b"}', '{"b":"1","a":"2"}', '{"a":"1","a":"2"}', "{}", value0("1")),
    items: fc.constantFrom('[{"name":"x","port":80}]', '[{"port":"http","share":0.5},null]', "[]", '[{"name":1}]'),
    count: fc.constantFrom("1", "0", "null", "1.0", '"1"'),
    size: fc.constantFrom("9007199254740993", "5", "null"),
    args: fc.constantFrom('["a","b"]', '["a",null]', "[]"),
    ids: fc.constantFrom("[1,2]", "[9007199254740993]", "[1.5]"),
    limits: fc.constantFrom('{"cpu":"1500m"}', '{"cpu":1.5}', '{"cpu":"x"}'),
    raw: fc.constantFrom('{"a": 1.0}', '{"b":{"c":[1,2]}}'),
    any: value,
    extra: value,
  },
  { requiredKeys: ["kind"] },
); // prettier-ignore
function value0(text: string): string {
  return `{"x":${text}}`;
}
const documents = fc.oneof(
  value,
  fitting.map((fields) => `{${Object.entries(fields).map(([key, text]) => `"${key}":${text}`).join(",")}}`),
); // prettier-ignore

type Result = { readonly json: string; readonly strict: readonly string[] } | { readonly error: string };
function outcome(read: () => Decoded<never>): Result {
  try {
    const { value: found, strict } = read();
    return { json: encodeJson(Outer, found), strict };
  } catch (error) {
    const { name, message: text } = error as Error;
    assert.match(name, /^(DecodeError|JsonSyntaxError)$/);
    return { error: `${name}: ${text}` };
  }
}

test("the fast and the careful decoder agree that a duration is not null", () => {
  for (const text of ['{"wait":null}', '{"wait":"1h","wait":null}'])
    assert.deepEqual(
      outcome(() => decodeJson(Outer, text) as never),
      outcome(() => decodeCarefully(Outer, text) as never),
      text,
    );
  assert.deepEqual(
    outcome(() => decodeJson(Outer, '{"wait":null}') as never),
    { error: 'DecodeError: time: invalid duration ""' },
  );
});

test("the fast and the careful decoder agree on almost valid documents", () => {
  let quick = 0;
  fc.assert(
    fc.property(documents, (text) => {
      const plain = outcome(() => decodeJson(Outer, text) as never);
      assert.deepEqual(
        plain,
        outcome(() => decodeCarefully(Outer, text) as never),
        text,
      );
      if ("json" in plain && plain.strict.length === 0 && countKeys(text) !== undefined) quick++;
    }),
    { numRuns: 1500 },
  );
  assert.ok(quick > 22, `only ${quick} documents could have gone the quick way`);
});

test("the fast and the careful decoder agree on corrupted texts", () => {
  fc.assert(
    fc.property(documents, fc.nat(), fc.constantFrom("", "}", ",", '"', "0", "\\", " "), (text, at, put) => {
      const cut = at % (text.length + 1);
      const damaged = text.slice(0, cut) + put + text.slice(cut + 1);
      assert.deepEqual(
        outcome(() => decodeJson(Outer, damaged) as never),
        outcome(() => decodeCarefully(Outer, damaged) as never),
        damaged,
      );
    }),
    { numRuns: 1000 },
  );
});
