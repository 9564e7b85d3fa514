import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Applied, type Apply, apply } from "./apply.ts";
import { conflictMessage } from "./conflicts.ts";
import type { Json, JsonObject } from "./json-value.ts";
import { type ManagedFieldsEntry, entriesOf, withManagers } from "./managed-fields.ts";
import { mergePatch } from "./merge-patch.ts";
import { PatchError } from "./patch-error.ts";
import { ConfigMap, Deployment, Pod } from "./testdata/sample.ts";
import { updateManagers } from "./update-managers.ts";

const at = (seconds: number): string => `2024-01-01T00:00:${String(seconds).padStart(2, "0")}Z`;
let clock = 0;
const config = (data: Json | undefined): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a" },
  ...(data === undefined ? {} : { data }),
});
const run = (
  live: JsonObject | undefined,
  manager: string,
  patch: JsonObject,
  more: Partial<Apply> = {},
): Applied =>
  apply({
    schema: ConfigMap,
    apiVersion: "v1",
    now: at(clock++),
    force: false,
    live,
    manager,
    patch,
    ...more,
  });

function done(result: Applied): JsonObject {
  assert.ok(result.done, result.done ? "" : conflictMessage(result.conflicts));
  const object = result.object;
  // Imitates a store: the uid is set once and nulls are decoded.
  return mergePatch(mergePatch({ metadata: { uid: "u" } }, object), {});
}
const fieldsOf = (object: JsonObject): Record<string, unknown> =>
  Object.fromEntries(
    (entriesOf(object) ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  );

test("ownership can be shared, forced and given up, and fields without owner are removed", () => {
  let object = done(run(undefined, "one", config({ x: "1", y: "1" })));
  assert.deepEqual(fieldsOf(object), { "one Apply": { "f:data": { "f:x": {}, "f:y": {} } } });

  const again = run(object, "one", config({ x: "1", y: "1" }));
  assert.ok(again.done && !again.changed);
  assert.deepEqual(again.managers, entriesOf(object));

  const shared = run(object, "two", config({ x: "1" }));
  assert.ok(shared.done && !shared.changed);
  object = shared.object;
  assert.deepEqual(fieldsOf(object), {
    "one Apply": { "f:data": { "f:x": {}, "f:y": {} } },
    "two Apply": { "f:data": { "f:x": {} } },
  });
  assert.equal(shared.managers.find(({ manager }) => manager === "two")?.time, undefined);

  const refused = run(object, "two", config({ x: "2" }));
  assert.ok(!refused.done);
  assert.deepEqual(refused.conflicts, [
    {
      manager: "one",
      operation: "Apply",
      apiVersion: "v1",
      subresource: "",
      field: ".data.x",
      message: 'conflict with "one"',
    },
  ]);
  assert.equal(
    conflictMessage(refused.conflicts),
    'Apply failed with 1 conflict: conflict with "one": .data.x',
  );

  object = done(run(object, "two", config({ x: "2" }), { force: true }));
  assert.deepEqual(object["data"], { x: "2", y: "1" });
  assert.deepEqual(fieldsOf(object), {
    "one Apply": { "f:data": { "f:y": {} } },
    "two Apply": { "f:data": { "f:x": {} } },
  });

  object = done(run(object, "one", config(undefined)));
  assert.deepEqual(object["data"], { x: "2" });
  assert.deepEqual(fieldsOf(object), { "two Apply": { "f:data": { "f:x": {} } } });

  object = done(run(object, "two", config(undefined)));
  assert.equal(object["data"], undefined);
  assert.equal(entriesOf(object), undefined);
});

test("fields of an untracked object are assigned to before-first-apply", () => {
  const live = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", uid: "u", creationTimestamp: at(0) },
    data: { z: "1" },
  };
  const refused = run(live, "one", config({ z: "2" }));
  assert.ok(!refused.done);
  assert.equal(refused.conflicts[0]?.message, 'conflict with "before-first-apply" using v1');
  const object = done(run(live, "one", config({ z: "2" }), { force: true }));
  assert.deepEqual(fieldsOf(object), {
    "one Apply": { "f:data": { "f:z": {} } },
    "before-first-apply Update": { "f:data": {} },
  });
});

test("a null is applied as a value", () => {
  const object = done(run(undefined, "one", config({ z: "1" })));
  const result = run(object, "one", config({ z: null }));
  assert.ok(result.done);
  assert.deepEqual(result.object["data"], { z: null });
  assert.deepEqual(fieldsOf(result.object), { "one Apply": { "f:data": { "f:z": {} } } });
});

test("an empty configuration for a new object has no manager", () => {
  const result = run(undefined, "one", config(undefined));
  assert.ok(result.done);
  assert.deepEqual(result.managers, []);
});

test("fields that the server resets are not owned by an applier", () => {
  const patch = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { hostNetwork: true },
    status: { phase: "Running" },
  };
  const result = apply({
    schema: Pod,
    apiVersion: "v1",
    now: at(0),
    force: false,
    live: undefined,
    manager: "one",
    patch,
    resetFields: { v1: { "f:status": {} } },
  });
  assert.ok(result.done);
  assert.deepEqual(result.managers[0]?.fieldsV1, { "f:spec": { "f:hostNetwork": {} } });
});

const deployment = (spec: JsonObject): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec,
});
const containers = (...list: JsonObject[]): JsonObject =>
  deployment({ template: { spec: { containers: list } } });
const runDeployment = (
  live: JsonObject | undefined,
  manager: string,
  patch: JsonObject,
  more: Partial<Apply> = {},
): Applied => run(live, manager, patch, { schema: Deployment, apiVersion: "apps/v1", ...more });
const namesOf = (object: JsonObject): unknown =>
  (
    object as { spec: { template: { spec: { containers: { name: string }[] } } } }
  ).spec.template.spec.containers.map(({ name }) => name);

test("items of keyed lists are added and removed with their managers", () => {
  let object = done(
    runDeployment(
      undefined,
      "one",
      containers({ name: "c", image: "i:1", ports: [{ containerPort: 80, protocol: "TCP" }] }),
    ),
  );
  object = done(runDeployment(object, "two", containers({ name: "side", image: "s" })));
  assert.deepEqual(namesOf(object), ["c", "side"]);
  object = done(
    runDeployment(
      object,
      "three",
      containers({ name: "c", ports: [{ containerPort: 80, protocol: "UDP" }, { containerPort: 82 }] }),
    ),
  );
  const ports = (value: JsonObject): unknown =>
    (value as { spec: { template: { spec: { containers: { ports: unknown }[] } } } }).spec.template.spec
      .containers[0]!.ports;
  assert.deepEqual(ports(object), [
    { containerPort: 80, protocol: "TCP" },
    { containerPort: 80, protocol: "UDP" },
    { containerPort: 82 },
  ]);

  const refused = runDeployment(object, "two", containers({ name: "c", image: "i:2" }));
  assert.ok(!refused.done);
  assert.equal(refused.conflicts[0]?.field, '.spec.template.spec.containers[name="c"].image');

  object = done(runDeployment(object, "two", deployment({})));
  assert.deepEqual(namesOf(object), ["c"]);
  object = done(runDeployment(object, "three", deployment({})));
  assert.deepEqual(ports(object), [{ containerPort: 80, protocol: "TCP" }]);
});

test("an item given up by its applier is removed along with fields that updaters added to it", () => {
  const applied = done(runDeployment(undefined, "one", containers({ name: "c", image: "i:1" })));
  const next = containers({ name: "c", image: "i:1", imagePullPolicy: "Always" });
  const live = { ...next, metadata: { ...(applied["metadata"] as JsonObject) } };
  const object = withManagers(
    live,
    updateManagers({
      schema: Deployment,
      apiVersion: "apps/v1",
      manager: "upd",
      now: at(50),
      live: applied,
      next: live,
    }),
  );
  const result = done(runDeployment(object, "one", deployment({})));
  assert.deepEqual(result["spec"], { template: { spec: {} } });
  assert.deepEqual(fieldsOf(result), { "one Apply": { "f:spec": {} } });
});

test("several conflicts are grouped by manager", () => {
  const live = withManagers({ ...config({ a: "1", b: "1", c: "1" }), metadata: { name: "a", uid: "u" } }, [
    {
      manager: "upd",
      operation: "Update",
      apiVersion: "v1",
      time: at(0),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } },
    },
    {
      manager: "sub",
      operation: "Update",
      apiVersion: "v1",
      time: at(0),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:c": {} } },
      subresource: "status",
    },
  ]);
  const result = run(live, "one", config({ a: "2", b: "2", c: "2" }));
  assert.ok(!result.done);
  assert.equal(
    conflictMessage(result.conflicts),
    'Apply failed with 3 conflicts: conflicts with "sub" with subresource "status" using v1:\n- .data.c\nconflicts with "upd" using v1:\n- .data.a\n- .data.b',
  );
});

const refused: [name: string, patch: JsonObject, message: RegExp][] = [
  [
    "another version",
    { ...config({}), apiVersion: "v2" },
    /Incorrect version specified in apply patch. Specified patch version: v2, expected: v1/,
  ],
  ["another kind", { ...config({}), kind: "Secret" }, /kind: Secret, expected: ConfigMap/],
  [
    "managers",
    { ...config({}), metadata: { name: "a", managedFields: [{ manager: "x" }] } },
    /metadata.managedFields must be nil/,
  ],
  [
    "unknown fields",
    { ...config({}), zzz: 1 },
    /failed to create typed patch object \(\/a; \/v1, Kind=ConfigMap\): .zzz: field not declared in schema/,
  ],
  ["values of a wrong type", config("x"), /.data: expected map/],
];
for (const [name, patch, message] of refused) {
  test(`a configuration with ${name} is rejected`, () =>
    assert.throws(
      () => run(undefined, "one", patch),
      (error) => error instanceof PatchError && error.code === 400 && message.test(error.message),
    ));
}

test("duplicates in a configuration are rejected", () => {
  assert.throws(
    () => runDeployment(undefined, "one", containers({ name: "c" }, { name: "c" })),
    /duplicate entries for key \[name="c"\]/,
  );
});

test("an applier that changes its version keeps its entry and prunes in the old one", () => {
  const upper = (object: JsonObject, to: (key: string) => string): JsonObject => ({
    ...object,
    ...(object["data"]
      ? {
          data: Object.fromEntries(
            Object.entries(object["data"] as JsonObject).map(([key, value]) => [to(key), value]),
          ),
        }
      : {}),
  });
  const convert: Apply["convert"] = (object, apiVersion) =>
    apiVersion === "v2"
      ? { schema: ConfigMap, object: { ...upper(object, (key) => key.toUpperCase()), apiVersion } }
      : apiVersion === "v1"
        ? { schema: ConfigMap, object: { ...upper(object, (key) => key.toLowerCase()), apiVersion } }
        : undefined;
  const first = done(run(undefined, "one", config({ a: "1", b: "1" }), { convert }));
  const live = convert(first, "v2", "v1")!.object;
  const result = done(
    run(live, "one", { ...config({ A: "1" }), apiVersion: "v2" }, { convert, apiVersion: "v2" }),
  );
  assert.deepEqual(result["data"], { A: "1" });
  assert.deepEqual(
    (entriesOf(result) ?? []).map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]),
    [["one", "v2", { "f:data": { "f:A": {} } }]],
  );
});

const tool = { manager: "tool", annotation: "tool/last" };
const annotated = (data: JsonObject, last: JsonObject): JsonObject => ({
  ...config(data),
  metadata: { name: "a", uid: "u", annotations: { "tool/last": JSON.stringify(last) } },
});
const byHand = (data: JsonObject, last: JsonObject): JsonObject => {
  const object = annotated(data, last);
  return withManagers(
    object,
    updateManagers({
      schema: ConfigMap,
      apiVersion: "v1",
      manager: "hand",
      now: at(0),
      live: undefined,
      next: object,
    }),
  );
};

test("a tool takes over what it applied on the client side, and its annotation is updated", () => {
  const live = byHand({ a: "1" }, config({ a: "1" }));
  assert.ok(!run(live, "tool", config({ a: "2" })).done, "without knowing the tool it is a conflict");
  assert.ok(
    !run(live, "other", config({ a: "2" }), { clientSideApply: tool }).done,
    "for others it is a conflict",
  );
  const result = run(live, "tool", config({ a: "2" }), { clientSideApply: tool });
  assert.ok(result.done);
  assert.deepEqual(result.object["data"], { a: "2" });
  assert.equal(
    (result.object as { metadata: { annotations: Record<string, string> } }).metadata.annotations[
      "tool/last"
    ],
    '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
  );
});

test("fields changed since the tool's annotation remain conflicts", () => {
  const result = run(
    byHand({ a: "5", b: "1" }, config({ a: "1", b: "1" })),
    "tool",
    config({ a: "2", b: "2" }),
    { clientSideApply: tool },
  );
  assert.ok(!result.done);
  assert.deepEqual(
    result.conflicts.map(({ field }) => field),
    [".data.a"],
  );
});

const data = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2"), {
  noNullPrototype: true,
});
const step = fc.record({
  manager: fc.constantFrom("one", "two", "three"),
  data,
  operation: fc.constantFrom("apply", "update"),
});

test("apply is idempotent, and every applied field exists and is owned", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 6 }),
      fc.constantFrom("one", "two"),
      data,
      (history, manager, wanted) => {
        let live = done(run(undefined, "one", config({ a: "1" })));
        for (const each of history) {
          if (each.operation === "apply")
            live = done(run(live, each.manager, config(each.data), { force: true }));
          else {
            const next = mergePatch(live, { data: each.data });
            live = withManagers(
              next,
              updateManagers({
                schema: ConfigMap,
                apiVersion: "v1",
                manager: each.manager,
                now: at(1),
                live,
                next,
              }),
            );
          }
        }
        const patch = config(Object.keys(wanted).length === 0 ? undefined : wanted);
        const once = run(live, manager, patch, { force: true });
        assert.ok(once.done);
        const twice = run(done(once), manager, patch, { force: false });
        assert.ok(twice.done && !twice.changed);
        assert.deepEqual(twice.object["data"] ?? {}, once.object["data"] ?? {});
        assert.deepEqual(without(twice.managers), without(once.managers));
        for (const [key, value] of Object.entries(wanted)) {
          assert.equal((once.object["data"] as JsonObject)[key], value);
          const mine = once.managers.find((entry) => entry.manager === manager && entry.operation === "Apply")
            ?.fieldsV1 as { "f:data": JsonObject };
          assert.ok(mine["f:data"][`f:${key}`]);
        }
      },
    ),
    { numRuns: 200 },
  );
});

const without = (entries: readonly ManagedFieldsEntry[]): unknown =>
  entries
    .map((entry) => ({ ...entry, time: undefined }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
