import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Message } from "../shape.ts";
import type { JsonObject } from "./json-value.ts";
import { PatchError } from "./patch-error.ts";
import { strategicMergePatch } from "./strategic.ts";
import { Deployment, Forest, Pod } from "./testdata/sample.ts";

const spec = (value: JsonObject): JsonObject => ({ spec: value });
const meta = (value: JsonObject): JsonObject => ({ metadata: value });
const a = { name: "a", image: "i:1" };
const b = { name: "b", image: "i:2" };
const c = { name: "c", image: "i:3" };

const cases: [name: string, schema: Message, live: JsonObject, patch: JsonObject, result: JsonObject][] = [
  [
    "a scalar is set",
    Pod,
    spec({ hostNetwork: false }),
    spec({ hostNetwork: true }),
    spec({ hostNetwork: true }),
  ],
  [
    "null deletes",
    Pod,
    meta({ labels: { x: "1", y: "2" } }),
    meta({ labels: { x: null } }),
    meta({ labels: { y: "2" } }),
  ],
  ["null for a missing key is dropped", Pod, meta({}), meta({ labels: null }), meta({})],
  [
    "nulls in new values are dropped",
    Pod,
    meta({}),
    meta({ labels: { x: null, y: "1" } }),
    meta({ labels: { y: "1" } }),
  ],
  [
    "a map takes new keys",
    Pod,
    meta({ labels: { x: "1" } }),
    meta({ labels: { z: "3" } }),
    meta({ labels: { x: "1", z: "3" } }),
  ],
  [
    "an item merges by its key",
    Pod,
    spec({ containers: [a, b] }),
    spec({ containers: [{ name: "b", image: "i:9" }] }),
    spec({ containers: [a, { name: "b", image: "i:9" }] }),
  ],
  [
    "a new item comes before the live ones",
    Pod,
    spec({ containers: [a] }),
    spec({ containers: [b] }),
    spec({ containers: [b, a] }),
  ],
  [
    "the patch's order wins among its items",
    Pod,
    spec({ containers: [a, b, c] }),
    spec({ containers: [{ name: "c" }, { name: "a" }] }),
    spec({ containers: [b, c, a] }),
  ],
  [
    "an item is deleted",
    Pod,
    spec({ containers: [a, b] }),
    spec({ containers: [{ name: "a", $patch: "delete" }] }),
    spec({ containers: [b] }),
  ],
  [
    "deleting a missing item has no effect",
    Pod,
    spec({ containers: [b] }),
    spec({ containers: [{ name: "a", $patch: "delete" }] }),
    spec({ containers: [b] }),
  ],
  [
    "a list is replaced",
    Pod,
    spec({ containers: [a, b] }),
    spec({ containers: [c, { $patch: "replace" }] }),
    spec({ containers: [c] }),
  ],
  [
    "a map is replaced",
    Pod,
    meta({ labels: { x: "1" } }),
    meta({ labels: { $patch: "replace", z: "1" } }),
    meta({ labels: { z: "1" } }),
  ],
  [
    "a map is emptied",
    Pod,
    meta({ labels: { x: "1" } }),
    meta({ labels: { $patch: "delete" } }),
    meta({ labels: {} }),
  ],
  [
    "an atomic list is replaced",
    Pod,
    spec({ containers: [{ ...a, args: ["x", "y"] }] }),
    spec({ containers: [{ name: "a", args: ["z"] }] }),
    spec({ containers: [{ ...a, args: ["z"] }] }),
  ],
  [
    "nested lists merge by their own key",
    Pod,
    spec({ containers: [{ ...a, env: [{ name: "A", value: "1" }] }] }),
    spec({
      containers: [
        {
          name: "a",
          env: [
            { name: "B", value: "2" },
            { name: "A", value: null },
          ],
        },
      ],
    }),
    spec({ containers: [{ ...a, env: [{ name: "B", value: "2" }, { name: "A" }] }] }),
  ],
  [
    "ports merge by number alone",
    Pod,
    spec({ containers: [{ ...a, ports: [{ containerPort: 80, protocol: "TCP" }] }] }),
    spec({ containers: [{ name: "a", ports: [{ containerPort: 80, name: "web" }] }] }),
    spec({ containers: [{ ...a, ports: [{ containerPort: 80, protocol: "TCP", name: "web" }] }] }),
  ],
  [
    "finalizers are added, not replaced",
    Pod,
    meta({ finalizers: ["x/a"] }),
    meta({ finalizers: ["x/b"] }),
    meta({ finalizers: ["x/b", "x/a"] }),
  ],
  [
    "a finalizer is not added twice",
    Pod,
    meta({ finalizers: ["x/a"] }),
    meta({ finalizers: ["x/a"] }),
    meta({ finalizers: ["x/a"] }),
  ],
  [
    "finalizers are deleted by value",
    Pod,
    meta({ finalizers: ["x/a", "x/b"] }),
    meta({ "$deleteFromPrimitiveList/finalizers": ["x/a", "x/z"] }),
    meta({ finalizers: ["x/b"] }),
  ],
  [
    "deletion from an absent list has no effect",
    Pod,
    meta({}),
    meta({ "$deleteFromPrimitiveList/finalizers": ["x/a"] }),
    meta({}),
  ],
  [
    "values are deleted and added in one patch",
    Pod,
    meta({ finalizers: ["x/a", "x/b"] }),
    meta({ "$deleteFromPrimitiveList/finalizers": ["x/a"], finalizers: ["x/c"] }),
    meta({ finalizers: ["x/c", "x/b"] }),
  ],
  [
    "an order directive orders items",
    Pod,
    spec({ containers: [a, b, c] }),
    spec({ "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] }),
    spec({ containers: [b, c, a] }),
  ],
  [
    "an order directive places new items",
    Pod,
    spec({ containers: [a, b] }),
    spec({ "$setElementOrder/containers": [{ name: "a" }, { name: "c" }, { name: "b" }], containers: [c] }),
    spec({ containers: [a, c, b] }),
  ],
  [
    "an order directive orders scalars",
    Pod,
    meta({ finalizers: ["x/a", "x/b"] }),
    meta({ "$setElementOrder/finalizers": ["x/b", "x/a"] }),
    meta({ finalizers: ["x/b", "x/a"] }),
  ],
  [
    "an order directive for no list at all is ignored",
    Pod,
    meta({}),
    meta({ "$setElementOrder/finalizers": ["x/b"] }),
    meta({}),
  ],
  [
    "an order directive orders a list that is new",
    Pod,
    spec({}),
    spec({ "$setElementOrder/containers": [{ name: "a" }], containers: [a] }),
    spec({ containers: [a] }),
  ],
  [
    "retained keys drop the others",
    Deployment,
    spec({ strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } }),
    spec({ strategy: { $retainKeys: ["type"], type: "Recreate" } }),
    spec({ strategy: { type: "Recreate" } }),
  ],
  [
    "retained keys work inside list items",
    Pod,
    spec({ volumes: [{ name: "v", emptyDir: {} }] }),
    spec({ volumes: [{ $retainKeys: ["hostPath", "name"], name: "v", hostPath: { path: "/x" } }] }),
    spec({ volumes: [{ name: "v", hostPath: { path: "/x" } }] }),
  ],
  [
    "unknown fields are kept and left to decoding",
    Pod,
    spec({}),
    spec({ zzz: { a: 1 } }),
    spec({ zzz: { a: 1 } }),
  ],
  [
    "a value of another type replaces",
    Pod,
    meta({ labels: { x: "1" } }),
    meta({ labels: "no" }),
    meta({ labels: "no" }),
  ],
];
for (const [name, schema, live, patch, result] of cases) {
  test(name, () => {
    const before = structuredClone([live, patch]);
    assert.deepEqual(strategicMergePatch(schema, live, patch), result);
    assert.deepEqual([live, patch], before);
  });
}

const refused: [
  name: string,
  schema: Message,
  live: JsonObject,
  patch: unknown,
  code: number,
  message: RegExp,
][] = [
  ["a patch must be an object", Pod, {}, [], 400, /JSON object/],
  [
    "an unknown directive on a map is refused",
    Pod,
    meta({ labels: { a: "1" } }),
    meta({ labels: { $patch: "zap" } }),
    400,
    /unknown patch type: "zap"/,
  ],
  [
    "an unknown directive in a list is refused",
    Pod,
    spec({ containers: [a] }),
    spec({ containers: [{ name: "a", $patch: "zap" }] }),
    400,
    /unknown patch type/,
  ],
  [
    "a merge directive in a list is refused",
    Pod,
    spec({ containers: [a] }),
    spec({ containers: [{ name: "a", $patch: "merge" }] }),
    400,
    /merging lists/,
  ],
  [
    "an item needs its merge key",
    Pod,
    spec({ containers: [a] }),
    spec({ containers: [{ image: "x" }] }),
    400,
    /does not contain declared merge key: name/,
  ],
  [
    "a deletion needs its merge key",
    Pod,
    spec({ containers: [a] }),
    spec({ containers: [{ $patch: "delete" }] }),
    400,
    /merge key: name/,
  ],
  [
    "an order list must be a list",
    Pod,
    spec({ containers: [a] }),
    spec({ "$setElementOrder/containers": "a" }),
    400,
    /setElementOrder/,
  ],
  [
    "an order list must name a field",
    Pod,
    spec({ containers: [a] }),
    spec({ $setElementOrder: [] }),
    400,
    /setElementOrder/,
  ],
  [
    "an order list must name a known field",
    Pod,
    spec({ containers: [a] }),
    spec({ "$setElementOrder/zzz": [] }),
    400,
    /unable to find api field in struct PodSpec for the json field "zzz"/,
  ],
  [
    "a deletion list must name a field",
    Pod,
    spec({}),
    spec({ $deleteFromPrimitiveList: ["a"] }),
    400,
    /primitive list/,
  ],
  [
    "the order list must have every item of the patch",
    Pod,
    spec({ containers: [a] }),
    spec({ "$setElementOrder/containers": [{ name: "a" }], containers: [b] }),
    400,
    /does not match/,
  ],
  [
    "retained keys must be a list",
    Deployment,
    spec({ strategy: {} }),
    spec({ strategy: { $retainKeys: "type" } }),
    400,
    /retainKeys/,
  ],
  [
    "retained keys must have every key of the patch",
    Deployment,
    spec({ strategy: {} }),
    spec({ strategy: { $retainKeys: ["type"], rollingUpdate: {} } }),
    400,
    /retainKeys/,
  ],
  [
    "items must be of one type",
    Pod,
    meta({ finalizers: ["a"] }),
    meta({ finalizers: [{ a: 1 }] }),
    400,
    /types are not identical/,
  ],
  [
    "lists in maps cannot be merged",
    Forest,
    { extra: { a: ["1"] } },
    { extra: { a: ["2"] } },
    400,
    /cannot be merged/,
  ],
];
for (const [name, schema, live, patch, code, message] of refused) {
  test(name, () => {
    assert.throws(
      () => strategicMergePatch(schema, live, patch),
      (error) => error instanceof PatchError && error.code === code && message.test(error.message),
    );
  });
}

test("parts that the patch does not mention are shared", () => {
  const live = { metadata: { labels: {} }, spec: { containers: [a, b] } };
  const result = strategicMergePatch(Pod, live, {
    spec: { containers: [{ name: "a", image: "z" }] },
  }) as typeof live;
  assert.equal(result.metadata, live.metadata);
  assert.equal(result.spec.containers[1], b);
});

test("a patch with the changed items turns the old list into the new one", () => {
  const items = fc.uniqueArray(
    fc.record(
      { name: fc.constantFrom("a", "b", "c", "d", "e"), image: fc.constantFrom("1", "2", "3") },
      { noNullPrototype: true },
    ),
    {
      selector: (item) => item.name,
    },
  );
  fc.assert(
    fc.property(items, items, (before, after) => {
      const gone = before
        .filter((item) => !after.some((each) => each.name === item.name))
        .map(({ name }) => ({ name, $patch: "delete" }));
      const patch = spec({
        containers: [...after, ...gone],
        "$setElementOrder/containers": after.map(({ name }) => ({ name })),
      });
      fc.pre(before.length > 0);
      assert.deepEqual(
        strategicMergePatch(Pod, spec({ containers: before }), patch),
        spec({ containers: after }),
      );
    }),
  );
});
