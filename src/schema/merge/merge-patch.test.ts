import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "./json-value.ts";
import { mergePatch } from "./merge-patch.ts";
import { PatchError } from "./patch-error.ts";

const cases: [name: string, document: JsonObject, patch: JsonObject, result: JsonObject][] = [
  ["a value is set", { a: "b" }, { a: "c" }, { a: "c" }],
  ["a key is added", { a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  ["null deletes", { a: "b", b: "c" }, { a: null }, { b: "c" }],
  ["null for a missing key does nothing", { a: 1 }, { b: null }, { a: 1 }],
  ["objects merge", { a: { b: 1, c: 2 } }, { a: { b: 3, c: null } }, { a: { b: 3 } }],
  ["lists are replaced", { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ["an object replaces a scalar without its nulls", { a: 1 }, { a: { b: null, c: 2 } }, { a: { c: 2 } }],
  ["a scalar replaces an object", { a: { b: 1 } }, { a: 1 }, { a: 1 }],
  [
    "nulls in new objects are dropped, even inside lists",
    {},
    { a: { b: [{ c: null, d: [null] }] } },
    { a: { b: [{ d: [null] }] } },
  ],
];
for (const [name, document, patch, result] of cases) {
  test(name, () => {
    const before = structuredClone(document);
    assert.deepEqual(mergePatch(document, patch), result);
    assert.deepEqual(document, before);
  });
}

test("a patch that is not an object is malformed", () => {
  for (const patch of [[1], "x", null, 1])
    assert.throws(
      () => mergePatch({}, patch),
      (error) => error instanceof PatchError && error.code === 400,
    );
});

test("unchanged parts are shared, and a patch without effect returns the document itself", () => {
  const document = { spec: { deep: { a: 1 } }, metadata: { labels: { x: "1" } } };
  const result = mergePatch(document, { metadata: { labels: { x: "2" } } });
  assert.equal(result.spec, document.spec);
  assert.equal(mergePatch(document, { metadata: { labels: { x: "1" }, gone: null } }), document);
});

const json = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Json>(null, 1, 2, "x", true),
    fc.array(fc.integer(), { maxLength: 2 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__", "constructor"), tie("value"), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
})).object;

test("a merge patch is idempotent, and its nulls are never kept", () => {
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const plain = JSON.parse(JSON.stringify(document)) as JsonObject;
      const once = mergePatch(plain, patch);
      assert.deepEqual(mergePatch(once, patch), once);
      for (const key of Object.keys(patch))
        if (patch[key] === null) assert.equal(Object.hasOwn(once, key), false);
      assert.equal(Object.getPrototypeOf(once), Object.prototype);
    }),
  );
});
