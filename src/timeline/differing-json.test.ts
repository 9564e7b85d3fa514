// Two encoded objects are reduced to their differences, without losing any.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differingJson } from "./differing-json.ts";
import { elementsWith, memberOf } from "./encoded-json.ts";

const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

const cases: [name: string, before: unknown, after: unknown, left: [unknown, unknown]][] = [
  ["nothing of equal objects", { a: 1, b: [{ c: "x" }] }, { a: 1, b: [{ c: "x" }] }, [{}, {}]],
  ["a value", { a: 1, b: 2 }, { a: 1, b: 3 }, [{ b: 2 }, { b: 3 }]],
  [
    "a value of a nested object",
    { m: { name: "a", x: "1" }, s: { y: 1 } },
    { m: { name: "a", x: "2" }, s: { y: 1 } },
    [{ m: { x: "1" } }, { m: { x: "2" } }],
  ],
  ["an added and a removed member", { a: 1, b: 2 }, { b: 2, c: 3 }, [{ a: 1 }, { c: 3 }]],
  ["members in another order", { a: 1, b: 2, c: 3 }, { c: 3, a: 1, b: 4 }, [{ b: 2 }, { b: 4 }]],
  [
    "whole lists",
    { l: [1, { a: 2 }, 3] },
    { l: [1, { a: 4 }, 3] },
    [{ l: [1, { a: 2 }, 3] }, { l: [1, { a: 4 }, 3] }],
  ],
  [
    "quotes, brackets and backslashes in strings",
    { a: 'x"}],\\', b: "{" },
    { a: 'x"}],\\', b: "[" },
    [{ b: "{" }, { b: "[" }],
  ],
  [
    "letters beyond ASCII",
    { größe: "ä", "\u2028": 1 },
    { größe: "ö", "\u2028": 1 },
    [{ größe: "ä" }, { größe: "ö" }],
  ],
  ["another type", { a: { b: 1 } }, { a: [1] }, [{ a: { b: 1 } }, { a: [1] }]],
  [
    "empty objects and lists",
    { a: {}, b: [] },
    { a: { c: null }, b: [false] },
    [
      { a: {}, b: [] },
      { a: { c: null }, b: [false] },
    ],
  ],
  [
    "long texts",
    { a: "x".repeat(200), b: 1 },
    { a: `${"x".repeat(199)}y`, b: 1 },
    [{ a: "x".repeat(200) }, { a: `${"x".repeat(199)}y` }],
  ],
];

for (const [name, before, after, left] of cases)
  test(`leaves ${name}`, () => assert.deepEqual(differingJson(bytes(before), bytes(after)), left));

const elementwise: [name: string, before: unknown, after: unknown, left: [unknown, unknown]][] = [
  [
    "only the differing elements of an elementwise list",
    { m: { l: [{ a: 1 }, { b: 1 }] }, l: [1, 2] },
    { m: { l: [{ a: 1 }, { b: 2 }] }, l: [1, 3] },
    [
      { m: { l: [{ b: 1 }] }, l: [1, 2] },
      { m: { l: [{ b: 2 }] }, l: [1, 3] },
    ],
  ],
  [
    "an added and a removed element",
    { m: { l: [{ a: 1 }, { b: 1 }] }, n: [] },
    { m: { l: [{ a: 1 }] }, n: [0] },
    [
      { m: { l: [{ b: 1 }] }, n: [] },
      { m: { l: [] }, n: [0] },
    ],
  ],
  [
    "a whole list with the same name at another path",
    { x: { m: { l: [1, 2] } } },
    { x: { m: { l: [1, 3] } } },
    [{ x: { m: { l: [1, 2] } } }, { x: { m: { l: [1, 3] } } }],
  ],
];
for (const [name, before, after, left] of elementwise)
  test(`leaves ${name}`, () =>
    assert.deepEqual(differingJson(bytes(before), bytes(after), ["m", "l"]), left));

test("a number differs from one it is a prefix of", () =>
  assert.deepEqual(differingJson(bytes({ a: 1, b: 0 }), bytes({ a: 12, b: 0 })), [{ a: 1 }, { a: 12 }]));

test("only the requested members of elements are parsed", () => {
  const json = bytes({ m: { l: [{ a: "x", b: { c: [1] } }, { b: 2 }, { a: "]" }] } });
  assert.deepEqual(elementsWith(json, ["m", "l"], ["a"]), [{ a: "x" }, {}, { a: "]" }]);
  assert.deepEqual([elementsWith(json, ["m", "x"], ["a"]), elementsWith(json, ["m"], ["a"])], [[], []]);
});

test("members with names of inherited properties are kept", () => {
  const [from, to] = differingJson(bytes('{"__proto__":1}'), bytes('{"__proto__":2}'));
  assert.deepEqual([Object.keys(from as object), JSON.stringify(to)], [["__proto__"], '{"__proto__":2}']);
});

test("twenty thousand renamed members are compared", () => {
  const named = (name: string) =>
    bytes(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`${name}${at}`, at])));
  const [from, to] = differingJson(named("a"), named("b"));
  assert.deepEqual([Object.keys(from as object).length, Object.keys(to as object).length], [20_000, 20_000]);
});

test("truncated JSON is rejected", () => {
  const whole = bytes({ a: { b: "te\\xt" }, c: [1] });
  for (let end = 0; end < whole.length; end++)
    assert.throws(() => differingJson(whole.subarray(0, end), whole), SyntaxError, String(end));
});

const members: [name: string, json: unknown, path: string[], value: unknown][] = [
  ["a member of a member", { a: 1, m: { x: "{", l: [{ b: 1 }] } }, ["m", "l"], [{ b: 1 }]],
  ["nothing for an absent member", { m: { x: 1 } }, ["m", "l"], undefined],
  ["nothing below a value that is not an object", { m: [1] }, ["m", "l"], undefined],
];

for (const [name, json, path, value] of members)
  test(`reads ${name}`, () => assert.deepEqual(memberOf(bytes(json), path), value));
