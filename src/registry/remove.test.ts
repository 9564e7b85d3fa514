import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "#api";
import { ApiError } from "#base";
import { type Sent, causesOf, refusal, shelf, shelfNow } from "./registry.fixture.ts";
import { validateDeleteOptions } from "./remove.ts";
import type { Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { event } from "./strategies/event.ts";
import { namespace } from "./strategies/namespace.ts";
import { timestamp } from "./request.ts";

type Options = Parameters<typeof validateDeleteOptions>[1];
const [orphan, foreground, own] = ["orphan", "foregroundDeletion", "example.com/mine"];
const at = (seconds: number): string => timestamp(new Date(shelfNow + seconds * 1000));
const plain: Strategy = { ...configMap, generation: true };
/** Objects that get thirty seconds unless somebody asks for another time. */
const graceful: Strategy = { ...plain, graceSeconds: (_obj, asked) => asked ?? 30 };
const orphaning: Strategy = { ...plain, orphansDependents: { warning: "dependents stay" } };
const map = (finalizers: readonly string[] = []): Sent => ({ metadata: { name: "a", ...(finalizers.length > 0 && { finalizers: [...finalizers] }) } });

interface Left {
  readonly finalizers?: readonly string[];
  readonly grace?: number;
  readonly time?: string;
  readonly generation?: number;
}

const cases: [name: string, kind: Strategy, finalizers: string[], options: Options, left: Left | "gone"][] = [
  ["nothing holds it back", plain, [], {}, "gone"],
  ["a finalizer holds it back", plain, [own], {}, { finalizers: [own], grace: 0, time: at(0), generation: 2 }],
  ["grace means nothing to a kind without it", plain, [], { gracePeriodSeconds: 10 }, "gone"],
  ["in the background nothing is waited for", plain, [], { propagationPolicy: "Background" }, "gone"],
  ["in the foreground dependents are waited for", plain, [], { propagationPolicy: "Foreground" }, { finalizers: [foreground], grace: 0, time: at(0), generation: 2 }],
  ["orphaning is waited for", plain, [], { propagationPolicy: "Orphan" }, { finalizers: [orphan], grace: 0, time: at(0), generation: 2 }],
  ["the old way to say orphan", plain, [], { orphanDependents: true }, { finalizers: [orphan], grace: 0, time: at(0), generation: 2 }],
  ["the old way to say background", plain, [foreground], { orphanDependents: false }, "gone"],
  ["a policy that is there twice stays there twice", plain, [foreground, foreground], {}, { finalizers: [foreground, foreground], grace: 0, time: at(0), generation: 2 }],
  ["one policy takes the place of the other", plain, [orphan, own], { propagationPolicy: "Foreground" }, { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 }],
  [
    "the policy that is already there stays where it is",
    plain,
    [orphan, own],
    { propagationPolicy: "Orphan" },
    { finalizers: [orphan, own], grace: 0, time: at(0), generation: 2 },
  ],
  ["without a word the object's own policy counts", plain, [foreground], {}, { finalizers: [foreground], grace: 0, time: at(0), generation: 2 }],
  [
    "the background takes a policy away, not other finalizers",
    plain,
    [foreground, own],
    { propagationPolicy: "Background" },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  ["a kind that orphans by itself", orphaning, [], {}, { finalizers: [orphan], grace: 0, time: at(0), generation: 2 }],
  ["which an object in the foreground overrides", orphaning, [foreground], {}, { finalizers: [foreground], grace: 0, time: at(0), generation: 2 }],
  ["and a request, too", orphaning, [], { propagationPolicy: "Background" }, "gone"],
  ["time to end in good order", graceful, [], {}, { grace: 30, time: at(30), generation: 2 }],
  ["another time on request", graceful, [], { gracePeriodSeconds: 5 }, { grace: 5, time: at(5), generation: 2 }],
  ["less than nothing is a second", graceful, [], { gracePeriodSeconds: -7 }, { grace: 1, time: at(1), generation: 2 }],
  ["no time at all", graceful, [], { gracePeriodSeconds: 0 }, "gone"],
  ["no time, but a finalizer", graceful, [own], { gracePeriodSeconds: 0 }, { finalizers: [own], grace: 0, time: at(0), generation: 2 }],
  ["time and a finalizer", graceful, [own], { gracePeriodSeconds: 5 }, { finalizers: [own], grace: 5, time: at(5), generation: 2 }],
  ["time and a policy", graceful, [], { propagationPolicy: "Foreground" }, { finalizers: [foreground], grace: 30, time: at(30), generation: 2 }],
];
for (const [name, kind, finalizers, options, left] of cases) {
  test(`deletion: ${name}`, async (t) => {
    const { create, remove, get } = await shelf(t, kind);
    await create(map(finalizers));
    const dry = await remove("a", options, { dryRun: true });
    assert.equal((await get("a"))!.metadata.deletionTimestamp, undefined);
    const { gone, object } = await remove("a", options);
    const stored = await get("a");
    assert.equal(dry.gone, gone);
    assert.deepEqual(withoutRevision(dry.object), withoutRevision(object));
    if (left === "gone") {
      assert.equal(gone, true);
      assert.equal(stored, undefined);
      return;
    }
    assert.equal(gone, false);
    assert.deepEqual(stored, object);
    assert.deepEqual(shown(object.metadata), left);
  });
}

const withoutRevision = (object: { metadata: object }): unknown => ({ ...object, metadata: { ...object.metadata, resourceVersion: "" } });
const shown = ({ finalizers, deletionGracePeriodSeconds, deletionTimestamp, generation }: ConfigMap["metadata"]): unknown => ({
  ...(finalizers && { finalizers }),
  grace: deletionGracePeriodSeconds,
  time: deletionTimestamp,
  generation,
});

const again: [name: string, kind: Strategy, finalizers: string[], first: Options, second: Options, left: Left | "gone"][] = [
  ["a second deletion changes nothing", plain, [own], {}, {}, { finalizers: [own], grace: 0, time: at(0), generation: 2 }],
  ["a second one may still choose a policy", plain, [own], {}, { propagationPolicy: "Foreground" }, { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 }],
  ["a second one without a policy keeps the first one's", plain, [], { propagationPolicy: "Orphan" }, {}, { finalizers: [orphan], grace: 0, time: at(0), generation: 2 }],
  ["a second one can let go of the policy", plain, [], { propagationPolicy: "Orphan" }, { propagationPolicy: "Background" }, "gone"],
  ["a longer time is not heard", graceful, [], { gracePeriodSeconds: 5 }, { gracePeriodSeconds: 50 }, { grace: 5, time: at(5), generation: 2 }],
  ["nor is no word about time", graceful, [], { gracePeriodSeconds: 5 }, {}, { grace: 5, time: at(5), generation: 2 }],
  ["nor a policy while the time runs", graceful, [], { gracePeriodSeconds: 5 }, { propagationPolicy: "Foreground" }, { grace: 5, time: at(5), generation: 2 }],
  ["a shorter time counts from the first deletion", graceful, [], { gracePeriodSeconds: 50 }, { gracePeriodSeconds: 5 }, { grace: 5, time: at(5), generation: 2 }],
  ["no time any more", graceful, [], { gracePeriodSeconds: 50 }, { gracePeriodSeconds: 0 }, "gone"],
  ["no time any more, but a finalizer", graceful, [own], { gracePeriodSeconds: 50 }, { gracePeriodSeconds: 0 }, { finalizers: [own], grace: 0, time: at(0), generation: 2 }],
];
for (const [name, kind, finalizers, first, second, left] of again) {
  test(`deletion: ${name}`, async (t) => {
    const { create, remove, get } = await shelf(t, kind);
    await create(map(finalizers));
    await remove("a", first);
    const { gone } = await remove("a", second);
    const stored = await get("a");
    assert.equal(gone, left === "gone");
    assert.deepEqual(stored && shown(stored.metadata), left === "gone" ? undefined : left);
  });
}

test("a repeated deletion does not write", async (t) => {
  const { create, remove, writes } = await shelf(t, plain);
  await create(map([own]));
  await remove("a");
  const before = writes();
  await remove("a");
  assert.equal(writes(), before);
});

test("a kind that gives no time is marked before it goes, so that watchers see why", async (t) => {
  const { create, remove, store } = await shelf(t, graceful);
  await create(map());
  await remove("a", { gracePeriodSeconds: 0 });
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const { changes } of store.watch({ prefix: "/registry/" }, 1, stop.signal)) {
    for (const { value } of changes) seen.push(value === null ? "gone" : (JSON.parse(Buffer.from(value).toString()) as ConfigMap).metadata.deletionTimestamp ? "marked" : "there");
    if (seen.length === 3) stop.abort();
  }
  assert.deepEqual(seen, ["there", "marked", "gone"]);
});

test("events know no dependents: whatever the policy, they go at once", async (t) => {
  const { create, remove, get } = await shelf(t, event);
  for (const options of [{ propagationPolicy: "Foreground" }, { propagationPolicy: "Orphan" }, { orphanDependents: true }, { gracePeriodSeconds: 30 }, {}]) {
    await create({
      metadata: { name: "a" },
      eventTime: "2030-01-01T00:00:00.000000Z",
      type: "Normal",
      reason: "Tested",
      action: "Test",
      reportingController: "example.com/test",
      reportingInstance: "test-1",
      regarding: { namespace: "default" },
    });
    assert.equal((await remove("a", options)).gone, true);
    assert.equal(await get("a"), undefined);
  }
});

const marks: [options: object, finalizers: string[] | undefined][] = [
  [{}, undefined],
  [{ propagationPolicy: "Background" }, undefined],
  [{ propagationPolicy: "Foreground" }, [foreground]],
  [{ orphanDependents: true }, [orphan]],
  [{ orphanDependents: false }, [foreground]],
];
for (const [options, finalizers] of marks) {
  test(`a namespace marked with ${JSON.stringify(options)}`, async (t) => {
    const { create, remove } = await shelf(t, namespace);
    await create({ metadata: { name: "a" } });
    assert.deepEqual((await remove("a", options)).object.metadata.finalizers, finalizers);
  });
}

test("a namespace is marked first, and goes when its own finalizers have gone", async (t) => {
  const { create, remove, update, get } = await shelf(t, namespace);
  await create({ metadata: { name: "n" } });
  const { gone, object } = await remove("n");
  assert.equal(gone, false);
  assert.equal((object["status"] as { phase: string }).phase, "Terminating");
  assert.equal((await remove("n")).gone, false);
  await update("n", { transform: (old) => ({ ...old!, spec: { finalizers: [] } }) }, { subresource: "finalize" });
  assert.equal(await get("n"), undefined);
});

const uid = "00000000-0000-0000-0000-000000000000";
test("preconditions: what is not the object meant stays", async (t) => {
  const { create, remove, get } = await shelf(t, plain);
  const { metadata } = await create(map());
  await assert.rejects(remove("a", { preconditions: { uid } }), refusal(409, /the UID in the precondition \(0{8}-.*\) does not match the UID in record/));
  await assert.rejects(remove("a", { preconditions: { resourceVersion: "1" } }), refusal(409, /the ResourceVersion in the precondition \(1\) does not match/));
  await assert.rejects(remove("a", { preconditions: { uid }, dryRun: ["All"] }, { dryRun: true }), refusal(409));
  assert.ok(await get("a"));
  const { uid: its, resourceVersion } = metadata;
  assert.equal((await remove("a", { preconditions: { uid: its!, resourceVersion: resourceVersion! } })).gone, true);
});

const blamed: [kind: Strategy, sent: Sent, named: string][] = [
  [configMap, { metadata: { name: "a" } }, "ConfigMap"],
  [namespace, { metadata: { name: "a" } }, "namespaces"],
];
for (const [kind, sent, named] of blamed) {
  test(`preconditions: a conflict over ${kind.resource} names ${named}`, async (t) => {
    const { create, remove } = await shelf(t, kind);
    await create(sent);
    await assert.rejects(remove("a", { preconditions: { uid: "other" } }), (error) => error instanceof ApiError && error.details?.kind === named);
  });
}

test("a precondition that was met and no longer is, is a conflict", async (t) => {
  const { create, remove, edit, get } = await shelf(t, plain, {
    beforeWrite: async (write, count) => void (count === 2 && write.value === null && (await edit("a", (object) => void (object.metadata.labels = { x: "1" })))),
  });
  const { metadata } = await create(map());
  await assert.rejects(remove("a", { preconditions: { resourceVersion: metadata.resourceVersion! } }), refusal(409));
  assert.deepEqual((await get("a"))!.metadata.labels, { x: "1" });
});

test("a deletion that lost a race looks again: a finalizer added meanwhile is respected", async (t) => {
  const { create, remove, edit } = await shelf(t, plain, {
    beforeWrite: async (write, count) => void (count === 2 && write.value === null && (await edit("a", (object) => void (object.metadata.finalizers = [own])))),
  });
  await create(map());
  const { gone, object } = await remove("a");
  assert.deepEqual([gone, object.metadata.finalizers], [false, [own]]);
});

test("two deletions at once: one does it, the other finds nothing", async (t) => {
  const { create, remove } = await shelf(t, plain);
  await create(map());
  const outcomes = await Promise.allSettled([remove("a"), remove("a")]);
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

test("what is not there cannot be deleted", async (t) => {
  const { remove } = await shelf(t, plain);
  await assert.rejects(remove("a"), refusal(404, /configmaps "a" not found/));
});

test("admission sees the object that would go, and may refuse", async (t) => {
  const seen: unknown[] = [];
  const { create, remove, get } = await shelf(t, plain, {
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
  ["both ways to say what becomes of dependents", { orphanDependents: true, propagationPolicy: "Orphan" }, ["Invalid propagationPolicy"]],
  ["an unknown policy", { propagationPolicy: "Sideways" }, ["NotSupported propagationPolicy"]],
  ["an empty policy", { propagationPolicy: "" }, ["NotSupported propagationPolicy"]],
  ["an unknown dry run", { dryRun: ["All", "Some"] }, ["NotSupported dryRun"]],
];
for (const [name, options, causes] of refused) {
  test(`delete options: ${name} is refused`, async (t) => {
    const { request } = await shelf(t, plain);
    assert.deepEqual(await causesOf(Promise.try(() => validateDeleteOptions(request(), options))), causes);
  });
}

test("a kind that leaves dependents behind warns those who did not say so", async (t) => {
  const { request, warnings } = await shelf(t, orphaning);
  for (const options of [{ propagationPolicy: "Background" }, { orphanDependents: true }]) validateDeleteOptions(request(), options);
  assert.deepEqual(warnings, []);
  validateDeleteOptions(request(), {});
  assert.deepEqual(warnings, ["dependents stay"]);
});

test("a removal says what it was", async (t) => {
  const { create, remove, resource } = await shelf(t, plain);
  const { metadata } = await create(map());
  const { object } = await remove("a");
  assert.equal(object.metadata.uid, metadata.uid);
  assert.ok(Number(object.metadata.resourceVersion) > Number(metadata.resourceVersion), "a deletion has a revision of its own");
  assert.equal(Number(object.metadata.resourceVersion), resource.source.revision());
});
