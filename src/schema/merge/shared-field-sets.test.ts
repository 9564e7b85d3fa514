import assert from "node:assert/strict";
import { test } from "node:test";
import { isShared } from "../shared-values.ts";
import { StoredParser } from "./shared-field-sets.ts";

const setOf = (fields: number): Record<string, object> =>
  Object.fromEntries(
    Array.from({ length: fields }, (_, at) => [
      `f:field${String(at).padStart(3, "0")}`,
      at % 3 ? {} : { ".": {}, [String.raw`k:{"name":"}{\"${at}"}`]: { ".": {}, "f:name": {} } },
    ]),
  );
const entry = (manager: string, fieldsV1: unknown): object => ({
  manager,
  time: null,
  fieldsV1,
  subresource: "a",
});
const stored = (name: string, entries: unknown, spec: unknown = {}): string =>
  JSON.stringify({ kind: "A", metadata: { name, managedFields: entries, uid: "1" }, spec });

const large = setOf(40);
const other = { ...large, "f:z": {} };
const cases: [name: string, text: string][] = [
  ["without managed fields", stored("a", undefined)],
  ["with one large set", stored("a", [entry("x", large)])],
  ["with two large sets", stored("a", [entry("x", large), entry("y", other)])],
  [
    "with a small set between",
    stored("a", [entry("x", large), entry("s", { "f:a": {} }), entry("y", other)]),
  ],
  ["with a set elsewhere", stored("a", [entry("x", large)], { template: { fieldsV1: large } })],
  ["with a set elsewhere only", stored("a", undefined, { fieldsV1: large })],
  ["with managed fields of another type", stored("a", { fieldsV1: large })],
  ["with a set that is not canonical", stored("a", [entry("x", { "f:z": {}, ...large })])],
  ["with lists in a set", stored("a", [entry("x", { ...large, "f:a": [{}] })])],
];
for (const [name, text] of cases)
  test(`a stored object ${name} is parsed as by JSON.parse`, () => {
    const parser = new StoredParser();
    for (let time = 0; time < 4; time++) assert.equal(JSON.stringify(parser.parse(text)), text);
  });

const setsIn = (parsed: unknown): unknown[] =>
  (parsed as { metadata: { managedFields: { fieldsV1: unknown }[] } }).metadata.managedFields.map(
    ({ fieldsV1 }) => fieldsV1,
  );

test("objects with equal field sets share them from the second on", () => {
  const parser = new StoredParser();
  const [a, b, c] = ["a", "b", "c"].map(
    (name) => setsIn(parser.parse(stored(name, [entry(name, large)])))[0],
  );
  assert.equal(isShared(a), false);
  assert.equal(isShared(b), true);
  assert.equal(b, c);
});

test("an object with the member in thousands of places is parsed as by JSON.parse, and nothing is shared", () => {
  let spec: object = {};
  for (let depth = 0; depth < 1000; depth++) spec = { fieldsV1: { ...spec, [`f:${depth}`]: "x".repeat(20) } };
  const text = stored("a", [entry("x", large)], { first: spec, second: spec });
  const parser = new StoredParser();
  for (let time = 0; time < 3; time++) assert.deepEqual(parser.parse(text), JSON.parse(text));
  assert.equal(isShared(setsIn(parser.parse(text))[0]), false);
});

test("sets with the same beginning are distinguished", () => {
  const parser = new StoredParser();
  const texts = [large, other, setOf(39)].map((set) => stored("a", [entry("x", set)]));
  for (let time = 0; time < 3; time++)
    for (const text of texts) assert.equal(JSON.stringify(parser.parse(text)), text);
});

test("a shared set cannot be modified", () => {
  const parser = new StoredParser();
  const text = stored("a", [entry("x", large)]);
  parser.parse(text);
  const [set] = setsIn(parser.parse(text)) as [Record<string, Record<string, object>>];
  assert.throws(() => (set["f:new"] = {}), TypeError);
  assert.throws(() => (set["f:field000"]!["f:new"] = {}), TypeError);
});

test("sets that have not been used for long are dropped", () => {
  const parser = new StoredParser();
  const text = stored("a", [entry("x", large)]);
  parser.parse(text);
  const [before] = setsIn(parser.parse(text));
  for (let at = 0; at < 400; at++)
    for (let time = 0; time < 2; time++)
      parser.parse(stored("b", [entry("x", { [`f:${at}`]: {}, ...large })]));
  parser.parse(text);
  const [after] = setsIn(parser.parse(text));
  assert.notEqual(after, before);
  assert.deepEqual(after, before);
});
