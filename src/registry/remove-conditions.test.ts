import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionPlugin } from "#admission";
import type { ConfigMap } from "#api";
import { ApiError } from "#base";
import { type Sent, causesOf, refusal, harness } from "./registry.fixture.ts";
import { validateDeleteOptions } from "./remove.ts";
import type { Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { namespace } from "./strategies/namespace.ts";

type Options = Parameters<typeof validateDeleteOptions>[1];
const own = "example.com/mine";
const plain: Strategy = { ...configMap, generation: true };
const orphaning: Strategy = { ...plain, orphansDependents: { warning: "dependents stay" } };
const map = (finalizers: readonly string[] = []): Sent => ({
  metadata: { name: "a", ...(finalizers.length > 0 && { finalizers: [...finalizers] }) },
});

const uid = "00000000-0000-0000-0000-000000000000";
test("an object that does not meet the preconditions is not deleted", async (t) => {
  const { create, remove, get } = await harness(t, plain);
  const { metadata } = await create(map());
  await assert.rejects(
    remove("a", { preconditions: { uid } }),
    refusal(409, /the UID in the precondition \(0{8}-.*\) does not match the UID in record/),
  );
  await assert.rejects(
    remove("a", { preconditions: { resourceVersion: "1" } }),
    refusal(409, /the ResourceVersion in the precondition \(1\) does not match/),
  );
  await assert.rejects(
    remove("a", { preconditions: { uid }, dryRun: ["All"] }, { dryRun: true }),
    refusal(409),
  );
  assert.ok(await get("a"));
  const { uid: its, resourceVersion } = metadata;
  assert.equal(
    (await remove("a", { preconditions: { uid: its!, resourceVersion: resourceVersion! } })).deleted,
    true,
  );
});

const blamed: [kind: Strategy, sent: Sent, named: string][] = [
  [configMap, { metadata: { name: "a" } }, "ConfigMap"],
  [namespace, { metadata: { name: "a" } }, "namespaces"],
];
for (const [kind, sent, named] of blamed) {
  test(`an unmet precondition on ${kind.resource} is a conflict that names ${named}`, async (t) => {
    const { create, remove } = await harness(t, kind);
    await create(sent);
    await assert.rejects(
      remove("a", { preconditions: { uid: "other" } }),
      (error) => error instanceof ApiError && error.details?.kind === named,
    );
  });
}

const seen: [name: string, kind: Strategy, unnamed: boolean, shown: string, byUid: boolean][] = [
  ["the name of a single object", configMap, false, "a", false],
  ["no name for an object of a collection request", configMap, true, "", false],
  ["the UID precondition of a namespace", namespace, false, "a", true],
];
for (const [name, kind, unnamed, shown, byUid] of seen) {
  test(`admission of a deletion sees ${name}`, async (t) => {
    const observed: { name: string; uid: unknown }[] = [];
    const observer: AdmissionPlugin = {
      name: "look",
      handles: ["DELETE"],
      validate: ({ name: its, options }) => {
        const { preconditions } = options as { preconditions?: { uid?: unknown } };
        observed.push({ name: its, uid: preconditions?.uid });
        return [];
      },
    };
    const { create, remove } = await harness(t, kind, { plugins: [observer] });
    const { metadata } = await create(map());
    await remove("a", {}, { unnamed });
    assert.deepEqual(observed[0], { name: shown, uid: byUid ? metadata.uid : undefined });
  });
}

test("a precondition that is no longer met after a retry is a conflict", async (t) => {
  const { create, remove, edit, get } = await harness(t, plain, {
    beforeWrite: async (write, count) =>
      void (
        count === 2 &&
        write.value === null &&
        (await edit("a", (object) => void (object.metadata.labels = { x: "1" })))
      ),
  });
  const { metadata } = await create(map());
  await assert.rejects(
    remove("a", { preconditions: { resourceVersion: metadata.resourceVersion! } }),
    refusal(409),
  );
  assert.deepEqual((await get("a"))!.metadata.labels, { x: "1" });
});

test("a deletion is retried on a conflict and respects an added finalizer", async (t) => {
  const { create, remove, edit } = await harness(t, plain, {
    beforeWrite: async (write, count) =>
      void (
        count === 2 &&
        write.value === null &&
        (await edit("a", (object) => void (object.metadata.finalizers = [own])))
      ),
  });
  await create(map());
  const { deleted, object } = await remove("a");
  assert.deepEqual([deleted, object.metadata.finalizers], [false, [own]]);
});

test("of two concurrent deletions one succeeds and the other reports not found", async (t) => {
  const { create, remove } = await harness(t, plain);
  await create(map());
  const outcomes = await Promise.allSettled([remove("a"), remove("a")]);
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

test("deleting a missing object reports not found", async (t) => {
  const { remove } = await harness(t, plain);
  await assert.rejects(remove("a"), refusal(404, /configmaps "a" not found/));
});

test("admission sees the object to be deleted and may refuse", async (t) => {
  const seen: unknown[] = [];
  const { create, remove, get } = await harness(t, plain, {
    plugins: [
      {
        name: "Refuse",
        handles: ["DELETE"],
        validate: async ({ operation, name, object, oldObject }) => {
          seen.push(operation, name, object, (oldObject as unknown as ConfigMap).metadata.name);
          return [{ type: "FieldValueForbidden", field: "metadata", detail: "stays" }];
        },
      },
    ],
  });
  await create(map());
  assert.deepEqual(await causesOf(remove("a")), ["Forbidden metadata"]);
  assert.deepEqual(seen, ["DELETE", "a", undefined, "a"]);
  assert.ok(await get("a"));
});

const refused: [name: string, options: Options, causes: string[]][] = [
  [
    "conflicting orphanDependents and propagationPolicy are refused",
    { orphanDependents: true, propagationPolicy: "Orphan" },
    ["Invalid propagationPolicy"],
  ],
  ["an unknown policy is refused", { propagationPolicy: "Sideways" }, ["NotSupported propagationPolicy"]],
  ["an empty policy is refused", { propagationPolicy: "" }, ["NotSupported propagationPolicy"]],
  ["an unknown dry run is refused", { dryRun: ["All", "Some"] }, ["NotSupported dryRun"]],
];
for (const [name, options, causes] of refused) {
  test(name, async (t) => {
    const { request } = await harness(t, plain);
    assert.deepEqual(await causesOf(Promise.try(() => validateDeleteOptions(request(), options))), causes);
  });
}

test("deletions without a policy get a warning for kinds that orphan dependents", async (t) => {
  const { request, warnings } = await harness(t, orphaning);
  for (const options of [{ propagationPolicy: "Background" }, { orphanDependents: true }])
    validateDeleteOptions(request(), options);
  assert.deepEqual(warnings, []);
  validateDeleteOptions(request(), {});
  assert.deepEqual(warnings, ["dependents stay"]);
});

test("a deletion returns the last object with a new revision", async (t) => {
  const { create, remove, resource } = await harness(t, plain);
  const { metadata } = await create(map());
  const { object } = await remove("a");
  assert.equal(object.metadata.uid, metadata.uid);
  assert.ok(
    Number(object.metadata.resourceVersion) > Number(metadata.resourceVersion),
    "a deletion has a revision of its own",
  );
  assert.equal(Number(object.metadata.resourceVersion), resource.source.revision());
});
