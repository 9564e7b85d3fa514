import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "#registry";
import { customColumns } from "./columns.ts";

const now = new Date("2020-01-02T00:00:00Z");

function cell(type: string, value: unknown): unknown {
  const [, column] = customColumns([{ name: "c", type, jsonPath: ".spec.v" }]);
  return column!.cell({ spec: { v: value } } as unknown as ApiObject, now);
}

const cells: [name: string, type: string, value: unknown, shown: unknown][] = [
  ["a text", "string", "a", "a"],
  ["a number as text", "string", 3, "3"],
  ["a fraction as text", "string", 2.5, "2.5"],
  ["a large fraction has an exponent", "string", 1234567.5, "1.2345675e+06"],
  ["a small fraction has an exponent", "string", 0.00001, "1e-05"],
  ["null as text", "string", null, "<no value>"],
  [
    "objects are JSON with sorted keys, safe in HTML",
    "string",
    { b: 1, a: ["<"] },
    '{"a":["\\u003c"],"b":1}',
  ],
  ["an integer beyond 2^53 is exact", "integer", 9007199254740993n, 9007199254740993n],
  ["a fraction is truncated as integer", "integer", 2.9, 2],
  ["a string is not an integer", "integer", "2", null],
  ["null has no integer value", "integer", null, null],
  ["a number", "number", 2, 2],
  ["a string is not a boolean", "boolean", "true", null],
  ["a time is shown as age", "date", "2020-01-01T00:00:00Z", "24h"],
  ["an empty time is unknown", "date", "", "<unknown>"],
  ["a string is not a time", "date", "yesterday", "<invalid>"],
  ["a missing value is null", "string", undefined, null],
];
for (const [name, type, value, shown] of cells) test(name, () => assert.equal(cell(type, value), shown));

test("an invalid path drops its column and all that follow", () => {
  const paths = [".spec.a", ".spec[", ".spec.b"];
  const columns = customColumns(paths.map((jsonPath) => ({ name: jsonPath, type: "string", jsonPath })));
  assert.deepEqual(
    columns.map(({ name }) => name),
    ["Name", ".spec.a"],
  );
});

test("a row has a limit of work, beyond which cells are empty, whatever the paths and values are", () => {
  const shown = (jsonPath: string, spec: object): readonly unknown[] => {
    const given = Array.from({ length: 50 }, (_, i) => ({ name: `c${i}`, type: "string", jsonPath }));
    const object = { spec } as unknown as ApiObject;
    return customColumns(given)
      .slice(1)
      .map((each) => each.cell(object, now));
  };
  const items = (count: number): object[] => Array.from({ length: count }, (_, i) => ({ a: i, b: "b" }));
  const cases: [path: string, spec: object, value: string][] = [
    [".spec.l[?(@.a==1)].b", { l: items(1000) }, "b"],
    [".spec.m.*.b", { m: Object.fromEntries(items(1000).entries()) }, "b"],
    [".spec.t", { t: "x".repeat(100_000) }, "x".repeat(100_000)],
    [".spec.o", { o: { a: items(100).map(() => 1) } }, JSON.stringify({ a: items(100).map(() => 1) })],
  ];
  for (const [path, spec, value] of cases) {
    const cells = shown(path, spec);
    assert.equal(cells[0], value, path);
    assert.equal(
      cells.every((cell) => cell === value || cell === null),
      true,
      path,
    );
    assert.equal(cells.at(-1), path === ".spec.o" ? value : null, path);
  }
});
