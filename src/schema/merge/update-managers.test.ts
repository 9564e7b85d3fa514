import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "./json-value.ts";
import { type TimesComparison, keepTimes } from "./kept-times.ts";
import {
  type ManagedFieldsEntry,
  checkManagers,
  decodeManagers,
  encodeManagers,
  identityOf,
  withManagers,
} from "./managed-fields.ts";
import { mergePatch } from "./merge-patch.ts";
import { fromScaleManagers, toScaleManagers } from "./scale-managers.ts";
import { ConfigMap, Deployment, Pod } from "./testdata/sample.ts";
import { type Update, updateManagers } from "./update-managers.ts";

const at = (seconds: number): string => `2024-01-01T00:00:${String(seconds).padStart(2, "0")}Z`;
const entry = (
  manager: string,
  fieldsV1: JsonObject,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry => ({
  manager,
  operation: "Update",
  apiVersion: "v1",
  time: at(0),
  fieldsType: "FieldsV1",
  fieldsV1,
  ...more,
});
const base = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "n", uid: "u", creationTimestamp: at(0), labels: { x: "1" } },
  data: { a: "1", b: "2" },
};
const baseFields = {
  "f:data": { ".": {}, "f:a": {}, "f:b": {} },
  "f:metadata": { "f:labels": { ".": {}, "f:x": {} } },
};

const update = (next: JsonObject, live: JsonObject | undefined, more: Partial<Update> = {}) =>
  updateManagers({ schema: ConfigMap, apiVersion: "v1", manager: "me", now: at(9), live, next, ...more });
const patched = (live: JsonObject, patch: JsonObject, more: Partial<Update> = {}) =>
  update(mergePatch(live, patch), live, more);
const tracked = withManagers(base, [entry("me", baseFields)]);

const created: [name: string, next: JsonObject, expected: readonly ManagedFieldsEntry[]][] = [
  ["a creator owns what it set, not the object's identity", base, [entry("me", baseFields, { time: at(9) })]],
  [
    "an object without any fields set has no managers",
    { metadata: { name: "a", creationTimestamp: null } },
    [],
  ],
  [
    "managers given on creation are kept",
    withManagers({ metadata: { name: "a" } }, [entry("x", { "f:data": {} })]),
    [entry("x", { "f:data": {} })],
  ],
  [
    "invalid managers are ignored",
    withManagers(base, [{ manager: "x", operation: "Odd", apiVersion: "v1" }]),
    [entry("me", baseFields, { time: at(9) })],
  ],
];
for (const [name, next, expected] of created)
  test(name, () => assert.equal(JSON.stringify(update(next, undefined)), JSON.stringify(expected)));

test("a creator without a name is recorded as unknown", () =>
  assert.equal(update(base, undefined, { manager: "" })[0]?.manager, "unknown"));

test("containers that always exist are not owned by their creator", () => {
  const next = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", creationTimestamp: null },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { creationTimestamp: null, labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i", resources: {} }] },
      },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } },
    },
    status: {},
  };
  const [first] = updateManagers({
    schema: Deployment,
    apiVersion: "apps/v1",
    manager: "me",
    now: at(0),
    live: undefined,
    next,
  });
  assert.equal(
    JSON.stringify(first?.fieldsV1),
    JSON.stringify({
      "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:strategy": { "f:rollingUpdate": { ".": {}, "f:maxSurge": {} }, "f:type": {} },
        "f:template": {
          "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
          "f:spec": {
            "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {}, "f:name": {}, "f:resources": {} } },
          },
        },
      },
    }),
  );
});

test("an object with duplicate list items is not tracked", () => {
  const twice = { name: "c", resources: {} };
  assert.deepEqual(
    updateManagers({
      schema: Pod,
      apiVersion: "v1",
      manager: "me",
      now: at(0),
      live: undefined,
      next: { metadata: { creationTimestamp: null }, spec: { containers: [twice, twice] }, status: {} },
    }),
    [],
  );
});

const updates: [
  name: string,
  patch: JsonObject,
  more: Partial<Update>,
  expected: readonly ManagedFieldsEntry[],
][] = [
  ["a write without changes leaves the managers unchanged", {}, {}, [entry("me", baseFields)]],
  [
    "a changed field renews the time of its manager",
    { data: { a: "9" } },
    {},
    [entry("me", baseFields, { time: at(9) })],
  ],
  [
    "a removed field leaves its manager, whose time stays",
    { data: { a: null } },
    {},
    [entry("me", { ...baseFields, "f:data": { ".": {}, "f:b": {} } })],
  ],
  [
    "a removed map is removed with its entries",
    { metadata: { labels: null } },
    {},
    [entry("me", { "f:data": baseFields["f:data"] })],
  ],
  [
    "another writer takes over what it changes",
    { data: { a: "9", c: "3" } },
    { manager: "other" },
    [
      entry("me", { ...baseFields, "f:data": { ".": {}, "f:b": {} } }),
      entry("other", { "f:data": { "f:a": {}, "f:c": {} } }, { time: at(9) }),
    ],
  ],
  [
    "the same writer through a subresource is another manager",
    { data: { c: "3" } },
    { subresource: "status" },
    [
      entry("me", baseFields),
      entry("me", { "f:data": { "f:c": {} } }, { time: at(9), subresource: "status" }),
    ],
  ],
  [
    "fields that the server resets have no owner",
    { data: { c: "3" }, immutable: true },
    { manager: "other", resetFields: { v1: { "f:data": {} } } },
    [entry("me", baseFields), entry("other", { "f:immutable": {} }, { time: at(9) })],
  ],
  [
    "system metadata has no owner",
    { metadata: { resourceVersion: "9", generation: 2 } },
    {},
    [entry("me", baseFields)],
  ],
  ["an empty entry resets all managers", { metadata: { managedFields: [{}] } }, {}, []],
  ["an empty list resets all managers", { metadata: { managedFields: [] } }, {}, []],
  [
    "a reset through a subresource is ignored",
    { metadata: { managedFields: [{}] } },
    { subresource: "status" },
    [entry("me", baseFields)],
  ],
  [
    "an absent list keeps the existing managers",
    { metadata: { managedFields: null } },
    {},
    [entry("me", baseFields)],
  ],
  [
    "invalid managers of an update are ignored",
    { metadata: { managedFields: [{ manager: "x", operation: "Odd" }] } },
    {},
    [entry("me", baseFields)],
  ],
  ["a manager without any fields left is dropped", { data: null, metadata: { labels: null } }, {}, []],
];
for (const [name, patch, more, expected] of updates)
  test(name, () => assert.equal(JSON.stringify(patched(tracked, patch, more)), JSON.stringify(expected)));

test("an untracked object stays untracked", () => assert.deepEqual(patched(base, { data: { a: "9" } }), []));

test("a write without changes returns the same list", () => {
  const list = tracked["metadata"] as { managedFields: unknown };
  assert.equal(patched(tracked, {}), list.managedFields);
});

test("an applier keeps no field that an update changes", () => {
  const live = withManagers(base, [
    entry("applier", { "f:data": { "f:a": {}, "f:b": {} } }, { operation: "Apply" }),
  ]);
  assert.deepEqual(patched(live, { data: { a: "9" } }), [
    entry("applier", { "f:data": { "f:b": {} } }, { operation: "Apply" }),
    entry("me", { "f:data": { "f:a": {} } }, { time: at(9) }),
  ]);
});

test("managers of another version are tracked through conversion", () => {
  const convert: Update["convert"] = (object, apiVersion) =>
    apiVersion === "v2"
      ? {
          schema: ConfigMap,
          object: {
            ...object,
            data: Object.fromEntries(
              Object.entries((object["data"] ?? {}) as object).map(([key, value]) => [
                key.toUpperCase(),
                value as string,
              ]),
            ),
          },
        }
      : undefined;
  const live = withManagers(base, [
    entry("two", { "f:data": { "f:A": {}, "f:B": {} } }, { apiVersion: "v2" }),
    entry("gone", { "f:data": { "f:a": {} } }, { apiVersion: "v0" }),
  ]);
  assert.deepEqual(patched(live, { data: { a: "9" } }, { convert }), [
    entry("two", { "f:data": { "f:B": {} } }, { apiVersion: "v2" }),
    entry("me", { "f:data": { "f:a": {} } }, { time: at(9) }),
  ]);
});

test("the oldest update managers are merged into one when there are too many", () => {
  const names = "abcdefghij".split("");
  const data = Object.fromEntries(names.map((name) => [name, "1"]));
  const live = withManagers(
    { ...base, data },
    names.map((name, i) => entry(name, { "f:data": { [`f:${name}`]: {} } }, { time: at(i) })),
  );
  const result = patched(live, { data: { z: "1" } }, { manager: "z", now: at(30) });
  assert.deepEqual(
    result.map(({ manager }) => manager),
    ["ancient-changes", "c", "d", "e", "f", "g", "h", "i", "j", "z"],
  );
  assert.deepEqual(
    result[0],
    entry("ancient-changes", { "f:data": { "f:a": {}, "f:b": {} } }, { time: at(1) }),
  );
  const again = patched(
    withManagers({ ...base, data: { ...data, z: "1" } }, result),
    { data: { y: "1" } },
    { manager: "y", now: at(31) },
  );
  assert.deepEqual(
    again[0],
    entry("ancient-changes", { "f:data": { "f:a": {}, "f:b": {}, "f:c": {} } }, { time: at(2) }),
  );
  assert.equal(again.length, 10);
});

test("merging into an older bucket loses no field when times are equal", () => {
  const names = ["aaa", "ancient-changes", ..."bcdefghi".split("")];
  const data = Object.fromEntries(names.map((name) => [name, "1"]));
  const live = withManagers(
    { ...base, data },
    names.map((name) => entry(name, { "f:data": { [`f:${name}`]: {} } })),
  );
  const result = patched(live, { data: { z: "1" } }, { manager: "z" });
  assert.deepEqual(
    result[0],
    entry("ancient-changes", { "f:data": { "f:aaa": {}, "f:ancient-changes": {} } }),
  );
});

test("entries are sorted by operation, time, name, version and subresource", () => {
  const sorted = [
    entry("z", { "f:a": {} }, { operation: "Apply" }),
    entry("b", { "f:a": {} }, { time: at(1) }),
    entry("a", { "f:a": {} }, { time: at(2) }),
    entry("a", { "f:a": {} }, { time: at(2), subresource: "status" }),
    entry("a", { "f:a": {} }, { time: at(2), apiVersion: "v2" }),
  ];
  assert.deepEqual(encodeManagers(decodeManagers(sorted.toReversed())), sorted);
});

test("an applier has one identity in all versions, an updater one in each", () => {
  const identity = (operation: "Apply" | "Update", apiVersion: string, subresource = ""): string =>
    identityOf({ name: "x", operation, apiVersion, subresource });
  assert.equal(identity("Apply", "v1"), identity("Apply", "v2"));
  assert.notEqual(identity("Update", "v1"), identity("Update", "v2"));
  assert.notEqual(identity("Apply", "v1"), identity("Apply", "v1", "scale"));
  assert.equal(
    identity("Update", "v1", "status"),
    '{"manager":"x","operation":"Update","apiVersion":"v1","subresource":"status"}',
  );
});

const invalid: [name: string, entry: ManagedFieldsEntry, message: RegExp][] = [
  ["an operation", entry("x", {}, { operation: "Odd" }), /operation must be `Apply` or `Update`/],
  ["a version", entry("x", {}, { apiVersion: "" }), /apiVersion must not be empty/],
  ["a fields type", entry("x", {}, { fieldsType: "" }), /missing fieldsType in managed fields entry 0/],
  [
    "a known fields type",
    entry("x", {}, { fieldsType: "FieldsV2" }),
    /invalid fieldsType "FieldsV2" in managed fields entry 0/,
  ],
  ["fields that are a set", entry("x", { a: {} }), /not a path element: a/],
];
for (const [name, each, message] of invalid)
  test(`an entry needs ${name}`, () => assert.throws(() => checkManagers([each]), message));

test("times are kept when nothing else differs", () => {
  const outcomes: TimesComparison[] = [];
  const kept = (after: JsonObject): JsonObject =>
    keepTimes(tracked, after, (outcome) => outcomes.push(outcome));
  const later = withManagers(base, [entry("me", baseFields, { time: at(5) })]);
  assert.deepEqual(kept(later), tracked);
  const changed = { ...later, data: { a: "0" } };
  assert.equal(kept(changed), changed);
  const owner = withManagers(base, [entry("you", baseFields, { time: at(5) })]);
  assert.equal(kept(owner), owner);
  assert.deepEqual(outcomes, ["equal_objects", "unequal_objects_slow", "unequal_objects_fast"]);
});

test("the scale subresource transfers ownership of replicas", () => {
  const paths = { "apps/v1": ["f:spec", "f:replicas"] };
  const scale = { paths, parentVersion: "apps/v1", scaleVersion: "autoscaling/v1" };
  const apps = (
    manager: string,
    fields: JsonObject,
    more: Partial<ManagedFieldsEntry> = {},
  ): ManagedFieldsEntry => entry(manager, fields, { apiVersion: "apps/v1", ...more });
  const parent = [
    apps("applier", { "f:spec": { "f:replicas": {} } }, { operation: "Apply" }),
    apps("me", { "f:spec": { "f:paused": {}, "f:replicas": {} } }),
  ];
  const seen = toScaleManagers(parent, scale);
  assert.deepEqual(
    seen.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]),
    [
      ["applier", "autoscaling/v1", { "f:spec": { "f:replicas": {} } }],
      ["me", "autoscaling/v1", { "f:spec": { "f:replicas": {} } }],
    ],
  );
  assert.deepEqual(fromScaleManagers(parent, seen, scale), parent);
  const taken = [
    entry(
      "scaler",
      { "f:spec": { "f:replicas": {} } },
      { apiVersion: "autoscaling/v1", subresource: "scale" },
    ),
  ];
  const { time: _, ...untimed } = apps(
    "scaler",
    { "f:spec": { "f:replicas": {} } },
    { subresource: "scale" },
  );
  assert.deepEqual(fromScaleManagers(parent, taken, scale), [
    untimed,
    apps("me", { "f:spec": { "f:paused": {} } }),
  ]);
});
