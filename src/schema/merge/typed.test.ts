import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Message } from "../shape.ts";
import { isEmptySet, union } from "./field-set.ts";
import type { Json, JsonObject } from "./json-value.ts";
import { type MergeType, anyType, mergeTypeOf, structType } from "./merge-type.ts";
import { ConfigMap, Deployment, Forest, Pod } from "./testdata/sample.ts";
import { checkHiddenItems, checkTyped } from "./typed-check.ts";
import { changesBetween, compareTyped, fieldSetOf } from "./typed-compare.ts";
import { TypedError } from "./typed-error.ts";
import { mergeTyped, mergedOrder } from "./typed-merge.ts";
import { extractItems, fitToType, removeItems } from "./typed-remove.ts";

const type = (schema: Message | MergeType): MergeType => mergeTypeOf(schema);
const container = (name: string, more: JsonObject = {}): JsonObject => ({ name, resources: {}, ...more });
const pod = (...containers: JsonObject[]): JsonObject => ({ spec: { containers } });

const sets: [name: string, schema: Message, value: JsonObject, fields: JsonObject][] = [
  [
    "scalars are leaves",
    ConfigMap,
    { immutable: true, kind: "ConfigMap" },
    { "f:immutable": {}, "f:kind": {} },
  ],
  [
    "entries of a map are owned, the map is not",
    ConfigMap,
    { data: { b: "1", a: "1" } },
    { "f:data": { "f:a": {}, "f:b": {} } },
  ],
  ["an empty map is owned", ConfigMap, { data: {} }, { "f:data": {} }],
  ["a null is owned", ConfigMap, { data: null, immutable: null }, { "f:data": {}, "f:immutable": {} }],
  [
    "items are owned, the list is not",
    Pod,
    pod({ name: "a", image: "i" }),
    { "f:spec": { "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:image": {}, "f:name": {} } } } },
  ],
  [
    "a null key counts as given, even if a missing one has a default",
    Pod,
    pod({ name: "a", ports: [{ containerPort: 80, protocol: null }] }),
    {
      "f:spec": {
        "f:containers": {
          'k:{"name":"a"}': {
            ".": {},
            "f:name": {},
            "f:ports": {
              'k:{"containerPort":80,"protocol":null}': { ".": {}, "f:containerPort": {}, "f:protocol": {} },
            },
          },
        },
      },
    },
  ],
  ["an empty keyed list owns nothing", Pod, pod(), {}],
  [
    "an absent key takes its default",
    Pod,
    pod({ name: "a", ports: [{ containerPort: 80 }] }),
    {
      "f:spec": {
        "f:containers": {
          'k:{"name":"a"}': {
            ".": {},
            "f:name": {},
            "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
          },
        },
      },
    },
  ],
  [
    "set items are values",
    Pod,
    { metadata: { finalizers: ["x/b", "x/a"] } },
    { "f:metadata": { "f:finalizers": { 'v:"x/a"': {}, 'v:"x/b"': {} } } },
  ],
  [
    "atomic lists, maps and messages are leaves",
    Pod,
    {
      spec: { nodeSelector: { a: "b" }, containers: [{ name: "a", args: ["x"] }] },
      metadata: { ownerReferences: [{ uid: "u", name: "n" }] },
    },
    {
      "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u"}': {} } },
      "f:spec": {
        "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:args": {}, "f:name": {} } },
        "f:nodeSelector": {},
      },
    },
  ],
  [
    "inlined fields belong to their parent",
    Pod,
    { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } },
    {
      "f:spec": {
        "f:volumes": { 'k:{"name":"v"}': { ".": {}, "f:hostPath": { "f:path": {} }, "f:name": {} } },
      },
    },
  ],
  [
    "recursive messages are supported at any depth",
    Forest,
    { root: { name: "r", children: [{ name: "c" }] } },
    { "f:root": { "f:children": { 'k:{"name":"c"}': { ".": {}, "f:name": {} } }, "f:name": {} } },
  ],
  [
    "untyped objects are owned by key, their lists as a whole",
    Forest,
    { anything: { a: [1], b: { c: 1 } }, raw: { x: { y: 1 } } },
    { "f:anything": { "f:a": {}, "f:b": { ".": {}, "f:c": {} } }, "f:raw": {} },
  ],
];
for (const [name, schema, value, fields] of sets)
  test(name, () => assert.equal(JSON.stringify(fieldSetOf(type(schema), value)), JSON.stringify(fields)));

const comparisons: [
  name: string,
  schema: Message,
  a: JsonObject,
  b: JsonObject,
  expected: { added?: JsonObject; modified?: JsonObject; removed?: JsonObject },
][] = [
  [
    "equal objects do not differ, whatever the order of keys",
    ConfigMap,
    { data: { a: "1", b: "2" } },
    { data: { b: "2", a: "1" } },
    {},
  ],
  [
    "a changed value is modified",
    ConfigMap,
    { data: { a: "1" } },
    { data: { a: "2" } },
    { modified: { "f:data": { "f:a": {} } } },
  ],
  [
    "a new map is added along with its entries",
    ConfigMap,
    {},
    { data: { a: "1" } },
    { added: { "f:data": { ".": {}, "f:a": {} } } },
  ],
  [
    "a new entry is added alone",
    ConfigMap,
    { data: { a: "1" } },
    { data: { a: "1", b: "" } },
    { added: { "f:data": { "f:b": {} } } },
  ],
  [
    "a removed map is removed with its entries",
    ConfigMap,
    { data: { a: "1" } },
    {},
    { removed: { "f:data": { ".": {}, "f:a": {} } } },
  ],
  [
    "emptying a map removes only its entries",
    ConfigMap,
    { data: { a: "1" } },
    { data: {} },
    { removed: { "f:data": { "f:a": {} } } },
  ],
  ["null and empty differ", ConfigMap, { data: null }, { data: {} }, { modified: { "f:data": {} } }],
  [
    "null that becomes a list adds only its items",
    Pod,
    { spec: { containers: null } },
    pod(container("a")),
    {
      added: {
        "f:spec": { "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:name": {}, "f:resources": {} } } },
      },
    },
  ],
  [
    "the order of items does not count",
    Pod,
    pod(container("a"), container("b")),
    pod(container("b"), container("a")),
    {},
  ],
  [
    "an atomic list is modified as a whole",
    Pod,
    pod(container("a", { args: ["x"] })),
    pod(container("a", { args: ["y"] })),
    { modified: { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:args": {} } } } } },
  ],
  [
    "a removed item is removed with its fields",
    Pod,
    { metadata: { finalizers: ["x/a", "x/b"] } },
    { metadata: { finalizers: ["x/b"] } },
    { removed: { "f:metadata": { "f:finalizers": { 'v:"x/a"': {} } } } },
  ],
  [
    "a value that changes kind is modified, its keys added",
    Forest,
    { anything: 1 },
    { anything: { a: 1 } },
    { added: { "f:anything": { "f:a": {} } }, modified: { "f:anything": {} } },
  ],
  [
    "a list and a map are different types",
    Forest,
    { anything: { a: 1 } },
    { anything: [1] },
    { modified: { "f:anything": {} }, removed: { "f:anything": { "f:a": {} } } },
  ],
];
for (const [name, schema, a, b, expected] of comparisons) {
  test(name, () => {
    assert.equal(
      JSON.stringify(compareTyped(type(schema), a, b)),
      JSON.stringify({
        added: expected.added ?? {},
        modified: expected.modified ?? {},
        removed: expected.removed ?? {},
      }),
    );
    const { changed, removed } = changesBetween(type(schema), a, b);
    assert.equal(
      JSON.stringify(changed),
      JSON.stringify(union((expected.added ?? {}) as never, (expected.modified ?? {}) as never)),
    );
    assert.equal(JSON.stringify(removed), JSON.stringify(expected.removed ?? {}));
  });
}

const faults: [name: string, schema: Message, value: JsonObject, message: string][] = [
  ["an unknown field", ConfigMap, { zzz: 1 }, ".zzz: field not declared in schema"],
  [
    "a nested unknown field",
    Pod,
    pod({ name: "a", zzz: 1 }),
    '.spec.containers[name="a"].zzz: field not declared in schema',
  ],
  ["a scalar for a map", ConfigMap, { data: "x" }, ".data: expected map, got &{x}"],
  ["a scalar for a list", Pod, { spec: { containers: 1 } }, ".spec.containers: expected list, got &{1}"],
  [
    "a boolean for text",
    ConfigMap,
    { metadata: { name: true } },
    ".metadata.name: expected string, got &value.valueUnstructured{Value:true}",
  ],
  [
    "text for a number",
    Deployment,
    { spec: { replicas: "3" } },
    ".spec.replicas: expected numeric (int or float), got string",
  ],
  [
    "a duplicate key",
    Pod,
    pod({ name: "c" }, { name: "c" }),
    '.spec.containers: duplicate entries for key [name="c"]',
  ],
  [
    "a duplicate value",
    Pod,
    { metadata: { finalizers: ["a", "a"] } },
    '.metadata.finalizers: duplicate entries for key [="a"]',
  ],
  [
    "a key that is missing and has no default",
    Pod,
    { spec: { imagePullSecrets: [{}] } },
    '.spec.imagePullSecrets: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
  ],
  [
    "an item that is null",
    Pod,
    { spec: { containers: [null] } },
    ".spec.containers: element 0: associative list with keys may not have a null element",
  ],
  [
    "two faults",
    ConfigMap,
    { data: 1, zzz: 1 },
    "errors:\n  .data: expected map, got &{1}\n  .zzz: field not declared in schema",
  ],
];
for (const [name, schema, value, message] of faults)
  test(`${name} is a type error`, () =>
    assert.throws(
      () => checkTyped(type(schema), value),
      (error) => error instanceof TypedError && error.message === message,
    ));

test("quantities, int-or-strings and raw objects accept any scalar", () => {
  checkTyped(type(Pod), pod({ name: "a", resources: { limits: { cpu: 1, memory: "1Gi" } } }));
  checkTyped(type(Deployment), {
    spec: { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } } },
  });
  checkTyped(type(Forest), { raw: { a: 1 }, anything: [1, { a: null }] });
});

test("duplicates that comparison skips are found, unless they existed before", () => {
  const items = structType({
    items: { type: { is: "list", relation: "set", keys: [], of: { is: "scalar", of: "string" } } },
  });
  const hiding = structType({
    open: { type: items },
    whole: { type: { is: "list", relation: "atomic", keys: [], of: items } },
  });
  const twice = { items: ["a", "a"] };
  assert.throws(() => checkHiddenItems(hiding, { whole: [twice] }, undefined), TypedError);
  checkHiddenItems(hiding, { whole: [structuredClone(twice)] }, { whole: [twice] });
  checkHiddenItems(hiding, { open: twice }, undefined);
  assert.throws(() => changesBetween(hiding, {}, { open: twice }), TypedError);
});

const merges: [name: string, schema: Message, live: JsonObject, config: JsonObject, result: JsonObject][] = [
  [
    "leaves of the configuration win",
    ConfigMap,
    { data: { a: "1", b: "1" } },
    { data: { a: "2" } },
    { data: { a: "2", b: "1" } },
  ],
  ["a null leaf wins", ConfigMap, { data: { a: "1" } }, { data: { a: null } }, { data: { a: null } }],
  ["an empty map removes nothing", ConfigMap, { data: { a: "1" } }, { data: {} }, { data: { a: "1" } }],
  [
    "an atomic map is replaced",
    Pod,
    { spec: { nodeSelector: { a: "b" } } },
    { spec: { nodeSelector: { c: "d" } } },
    { spec: { nodeSelector: { c: "d" } } },
  ],
  [
    "items merge by key and default key",
    Pod,
    pod({ name: "a", ports: [{ containerPort: 80, protocol: "TCP", name: "x" }] }),
    pod({
      name: "a",
      ports: [
        { containerPort: 80, name: "y" },
        { containerPort: 80, protocol: "UDP" },
      ],
    }),
    pod({
      name: "a",
      ports: [
        { containerPort: 80, protocol: "TCP", name: "y" },
        { containerPort: 80, protocol: "UDP" },
      ],
    }),
  ],
  [
    "values of a set are united",
    Pod,
    { metadata: { finalizers: ["a"] } },
    { metadata: { finalizers: ["b"] } },
    { metadata: { finalizers: ["a", "b"] } },
  ],
  [
    "any objects merge",
    Forest,
    { anything: { a: 1, b: [1] } },
    { anything: { b: [2], c: 1 } },
    { anything: { a: 1, b: [2], c: 1 } },
  ],
];
for (const [name, schema, live, config, result] of merges)
  test(name, () => assert.deepEqual(mergeTyped(type(schema), live, config), result));

const orders: [live: string, config: string, result: string][] = [
  ["abcd", "dxb", "acdxb"],
  ["abc", "cba", "cba"],
  ["ab", "ba", "ba"],
  ["abc", "", "abc"],
  ["", "ab", "ab"],
  ["abc", "xb", "axbc"],
  ["ac", "abc", "abc"],
];
for (const [live, config, result] of orders)
  test(`${live || "nothing"} and ${config || "nothing"} are ordered ${result}`, () =>
    assert.equal(mergedOrder(live.split(""), config.split("")).join(""), result));

test("merging shares what the configuration does not change", () => {
  const live = { metadata: { labels: { a: "1" } }, data: { x: "1" } };
  assert.equal(mergeTyped(type(ConfigMap), live, { data: { x: "1" } }), live);
  assert.equal(
    (mergeTyped(type(ConfigMap), live, { data: { x: "2" } }) as JsonObject)["metadata"],
    live.metadata,
  );
});

test("items are removed, and containers left empty become null", () => {
  assert.deepEqual(removeItems(type(ConfigMap), { data: { a: "1", b: "2" } }, { "f:data": { "f:a": {} } }), {
    data: { b: "2" },
  });
  assert.deepEqual(
    removeItems(type(ConfigMap), { data: { a: "1" }, immutable: true }, { "f:data": { "f:a": {} } }),
    { data: null, immutable: true },
  );
  assert.deepEqual(
    removeItems(type(Pod), pod(container("a"), container("b")), {
      "f:spec": { "f:containers": { 'k:{"name":"a"}': {} } },
    }),
    pod(container("b")),
  );
});

test("items are extracted", () => {
  const value = { data: { a: "1", b: "2" }, immutable: true };
  assert.deepEqual(extractItems(type(ConfigMap), value, { "f:data": { "f:a": {} } }), { data: { a: "1" } });
  assert.deepEqual(
    extractItems(type(Pod), pod(container("a", { image: "i" }), container("b")), {
      "f:spec": { "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:image": {} } } },
    }),
    pod({ image: "i" }),
  );
  assert.equal(extractItems(type(ConfigMap), value, {}), undefined);
});

test("a set fits a schema whose map or list became atomic", () => {
  assert.deepEqual(fitToType(type(Pod), { "f:spec": { "f:nodeSelector": { "f:a": {} } } }), {
    "f:spec": { "f:nodeSelector": {} },
  });
  const fits = { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } };
  assert.equal(fitToType(type(Pod), fits), fits);
});

test("a type built without a declaration works like a declared one", () => {
  const made = structType(
    {
      spec: { type: anyType },
      items: { type: { is: "list", relation: "set", keys: [], of: { is: "scalar", of: "string" } } },
    },
    { others: anyType },
  );
  assert.equal(
    JSON.stringify(fieldSetOf(made, { items: ["b", "a"], spec: { x: 1 }, other: 1 })),
    '{"f:items":{"v:\\"a\\"":{},"v:\\"b\\"":{}},"f:other":{},"f:spec":{"f:x":{}}}',
  );
});

const text = fc.constantFrom("1", "2", "3");
const podValue: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      labels: fc.dictionary(fc.constantFrom("a", "b", "c"), text, { noNullPrototype: true }),
      finalizers: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
      containers: fc.uniqueArray(
        fc.record(
          { name: fc.constantFrom("a", "b", "c"), image: text, args: fc.array(text, { maxLength: 2 }) },
          { requiredKeys: ["name"], noNullPrototype: true },
        ),
        { selector: (each) => each.name, maxLength: 3 },
      ),
    },
    { requiredKeys: ["containers"] },
  )
  .map(({ containers, ...metadata }) => ({ metadata: { ...metadata }, spec: { containers } }));

test("comparison yields exactly what merging needs", () => {
  const pods = type(Pod);
  fc.assert(
    fc.property(podValue, podValue, podValue, (a, b, c) => {
      const merged = mergeTyped(pods, a, b) as Json;
      assert.ok(isEmptySet(compareTyped(pods, a, merged).removed), "merging removes nothing");
      assert.deepEqual(mergeTyped(pods, merged, b), merged, "merging again changes nothing");
      const left = mergeTyped(pods, mergeTyped(pods, a, b), c) as Json;
      const right = mergeTyped(pods, a, mergeTyped(pods, b, c)) as Json;
      const { added, modified, removed } = compareTyped(pods, left, right);
      assert.ok(
        isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed),
        "merging is associative up to the order of items",
      );
      const own = compareTyped(pods, a, b);
      const back = compareTyped(pods, b, a);
      assert.deepEqual([own.added, own.modified, own.removed], [back.removed, back.modified, back.added]);
    }),
  );
});
