import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPatch } from "./json-patch.ts";
import type { Json } from "./json-value.ts";
import { PatchError } from "./patch-error.ts";

const document = { metadata: { labels: { a: "1", "b/c": "2" } }, items: [1, 2, 3], nothing: null };

const applied: [name: string, patch: unknown, result: Json][] = [
  ["no patch at all changes nothing", null, document],
  [
    "add sets a key",
    [{ op: "add", path: "/metadata/x", value: 1 }],
    { ...document, metadata: { ...document.metadata, x: 1 } },
  ],
  [
    "add inserts before an index",
    [{ op: "add", path: "/items/1", value: 9 }],
    { ...document, items: [1, 9, 2, 3] },
  ],
  [
    "add at the length appends",
    [{ op: "add", path: "/items/3", value: 9 }],
    { ...document, items: [1, 2, 3, 9] },
  ],
  [
    "add at the dash appends",
    [{ op: "add", path: "/items/-", value: 9 }],
    { ...document, items: [1, 2, 3, 9] },
  ],
  [
    "add at a negative index counts from past the end",
    [{ op: "add", path: "/items/-1", value: 9 }],
    { ...document, items: [1, 2, 3, 9] },
  ],
  ["add without a value adds null", [{ op: "add", path: "/x" }], { ...document, x: null }],
  ["remove drops a key", [{ op: "remove", path: "/metadata" }], { items: [1, 2, 3], nothing: null }],
  [
    "remove drops a key that is null",
    [{ op: "remove", path: "/nothing" }],
    { metadata: document.metadata, items: [1, 2, 3] },
  ],
  [
    "remove drops the last item by a negative index",
    [{ op: "remove", path: "/items/-1" }],
    { ...document, items: [1, 2] },
  ],
  [
    "replace sets an existing key",
    [{ op: "replace", path: "/metadata/labels/a", value: "9" }],
    { ...document, metadata: { labels: { a: "9", "b/c": "2" } } },
  ],
  [
    "replace of a missing key adds it",
    [{ op: "replace", path: "/fresh", value: 1 }],
    { ...document, fresh: 1 },
  ],
  [
    "replace sets an item",
    [{ op: "replace", path: "/items/0", value: "x" }],
    { ...document, items: ["x", 2, 3] },
  ],
  ["replace of the root takes the value", [{ op: "replace", path: "", value: { a: 1 } }], { a: 1 }],
  ["replace of the root with a scalar is ignored", [{ op: "replace", path: "", value: 1 }], document],
  [
    "move takes a value elsewhere",
    [{ op: "move", from: "/items/0", path: "/items/-" }],
    { ...document, items: [2, 3, 1] },
  ],
  [
    "copy repeats a value",
    [{ op: "copy", from: "/items", path: "/again" }],
    { ...document, again: [1, 2, 3] },
  ],
  [
    "copy of a missing key adds null",
    [{ op: "copy", from: "/no", path: "/again" }],
    { ...document, again: null },
  ],
  [
    "escapes are decoded once",
    [{ op: "remove", path: "/metadata/labels/b~1c" }],
    { ...document, metadata: { labels: { a: "1" } } },
  ],
  [
    "text before the first slash is ignored",
    [{ op: "add", path: "spec/x", value: 1 }],
    { ...document, x: 1 },
  ],
  [
    "a passing test changes nothing",
    [{ op: "test", path: "/metadata/labels", value: { "b/c": "2", a: "1" } }],
    document,
  ],
  ["a missing key tests as null", [{ op: "test", path: "/absent", value: null }], document],
  [
    "operations see the results of earlier ones",
    [
      { op: "add", path: "/o", value: {} },
      { op: "add", path: "/o/p", value: 1 },
    ],
    { ...document, o: { p: 1 } },
  ],
];
for (const [name, patch, result] of applied) {
  test(name, () => {
    const before = structuredClone(document);
    assert.deepEqual(jsonPatch(document, patch), result);
    assert.deepEqual(document, before);
  });
}

const refused: [name: string, patch: unknown, code: number, message: RegExp][] = [
  ["a patch must be an array", { op: "add" }, 400, /cannot unmarshal/],
  ["an operation must be an object", ["add"], 400, /object/],
  ["a null operation has no kind", [null], 422, /Unexpected kind: unknown/],
  ["an unknown operation is refused", [{ op: "merge", path: "/a" }], 422, /Unexpected kind: merge/],
  ["a path is needed", [{ op: "add", value: 1 }], 422, /add operation failed to decode path: missing value/],
  ["a move needs a source path", [{ op: "move", path: "/a" }], 422, /failed to decode from/],
  [
    "removing a missing key fails",
    [{ op: "remove", path: "/no" }],
    422,
    /Unable to remove nonexistent key: no: missing value/,
  ],
  ["moving a missing key fails", [{ op: "move", from: "/no", path: "/x" }], 422, /nonexistent key/],
  ["replacing a missing item fails", [{ op: "replace", path: "/items/7", value: 1 }], 422, /missing key/],
  ["adding beyond the end fails", [{ op: "add", path: "/items/4", value: 1 }], 422, /invalid index/],
  [
    "an index must be a number",
    [{ op: "add", path: "/items/one", value: 1 }],
    422,
    /proper array index: 'one'/,
  ],
  ["the dash names no existing item", [{ op: "remove", path: "/items/-" }], 422, /invalid syntax/],
  ["a path through a scalar is missing", [{ op: "add", path: "/items/0/x", value: 1 }], 422, /missing path/],
  ["a path through null is missing", [{ op: "add", path: "/nothing/x", value: 1 }], 422, /missing path/],
  [
    "an inherited name is missing",
    [{ op: "add", path: "/constructor/prototype/x", value: 1 }],
    422,
    /missing path/,
  ],
  [
    "a failing test fails the patch",
    [{ op: "test", path: "/items/0", value: 2 }],
    422,
    /testing value \/items\/0 failed: test failed/,
  ],
  [
    "too many operations are refused",
    Array.from({ length: 10_001 }, () => ({ op: "test", path: "/items/0", value: 1 })),
    413,
    /maximum operations in a JSON patch is 10000, got 10001/,
  ],
];
for (const [name, patch, code, message] of refused) {
  test(name, () => {
    assert.throws(
      () => jsonPatch(document, patch),
      (error) => error instanceof PatchError && error.code === code && message.test(error.message),
    );
  });
}

test("the total size of copies is limited", () => {
  const patch = [
    { op: "add", path: "/x", value: ["0123456789"] },
    ...Array.from({ length: 40 }, () => ({ op: "copy", from: "/x", path: "/x/-" })),
  ];
  assert.throws(
    () => jsonPatch({}, patch),
    /accumulated size increase of copy is \d+, exceeding the limit 3145728/,
  );
});

test("`__proto__` stays a key", () => {
  const result = jsonPatch(
    {},
    JSON.parse('[{"op":"add","path":"/__proto__","value":{"polluted":true}}]'),
  ) as object;
  assert.equal((result as { polluted?: boolean }).polluted, undefined);
  assert.deepEqual(Object.keys(result), ["__proto__"]);
});

test("parts that no operation touched are shared", () => {
  const result = jsonPatch(document, [{ op: "add", path: "/items/-", value: 4 }]) as typeof document;
  assert.equal(result.metadata, document.metadata);
});

test("many operations on one big map or list are cheap", () => {
  const big = {
    map: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, "v"])),
    list: Array.from({ length: 20_000 }, (_, i) => i),
  };
  const before = structuredClone(big);
  const patch = Array.from({ length: 5000 }, (_, i) => [
    { op: "add", path: `/map/n${i}`, value: "w" },
    { op: "remove", path: "/list/-1" },
  ]).flat();
  const result = jsonPatch(big, patch) as typeof big;
  assert.deepEqual([Object.keys(result.map).length, result.list.length], [25_000, 15_000]);
  assert.deepEqual(big, before);
});

test("the number of shifted list items is limited", () => {
  const patch = [
    { op: "add", path: "/x", value: Array.from({ length: 100_000 }, () => 0) },
    ...Array.from({ length: 400 }, () => ({ op: "add", path: "/x/0", value: 1 })),
  ];
  assert.throws(
    () => jsonPatch({}, patch),
    (error) => error instanceof PatchError && error.code === 413,
  );
});

test("a copy is independent of its source, and applying a patch does not modify it", () => {
  const patch = [
    { op: "add", path: "/a", value: { x: 1 } },
    { op: "add", path: "/a/y", value: 2 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "replace", path: "/a/x", value: 9 },
    { op: "remove", path: "/b/y" },
  ];
  const before = structuredClone(patch);
  assert.deepEqual(jsonPatch({}, patch), { a: { x: 9, y: 2 }, b: { x: 1 } });
  assert.deepEqual(patch, before);
});

/** An object with this nesting depth; its innermost value has a path of `x` elements. */
const nested = (depth: number): string => '{"x":'.repeat(depth - 1) + "{}" + "}".repeat(depth - 1);
const moves = (times: number): object[] =>
  Array.from({ length: times }, () => [
    { op: "add", path: "/b", value: JSON.parse(nested(900)) },
    { op: "move", from: "/a", path: `/b${"/x".repeat(899)}/x` },
    { op: "move", from: "/b", path: "/a" },
  ]).flat();

const deep: [name: string, patch: object[]][] = [
  ["moves", [{ op: "add", path: "/a", value: {} }, ...moves(60)]],
  ["moves that end in a copy", [{ op: "add", path: "/a", value: {} }, ...moves(60), { op: "copy", from: "/a", path: "/c" }]],
  ["moves that end in a test", [{ op: "add", path: "/a", value: {} }, ...moves(60), { op: "test", path: "/a", value: {} }]],
  ["an addition at the end of a long path", [{ op: "add", path: "/a", value: JSON.parse(nested(900)) }, { op: "add", path: `/a${"/x".repeat(899)}/x`, value: JSON.parse(nested(900)) }]],
]; // prettier-ignore
for (const [name, patch] of deep) {
  test(`${name} cannot exceed the maximum depth of a document`, () =>
    assert.throws(
      () => jsonPatch({}, patch),
      (error) => error instanceof PatchError && error.code === 422 && error.message === "exceeded max depth",
    ));
}
