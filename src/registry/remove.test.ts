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
const map = (finalizers: readonly string[] = []): Sent => ({
  metadata: { name: "a", ...(finalizers.length > 0 && { finalizers: [...finalizers] }) },
});

interface Left {
  readonly finalizers?: readonly string[];
  readonly grace?: number;
  readonly time?: string;
  readonly generation?: number;
}

const cases: [name: string, kind: Strategy, finalizers: string[], options: Options, left: Left | "gone"][] = [
  ["an object that nothing holds back goes at once", plain, [], {}, "gone"],
  [
    "an object with a finalizer is marked and stays",
    plain,
    [own],
    {},
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  ["grace means nothing to a kind without it", plain, [], { gracePeriodSeconds: 10 }, "gone"],
  [
    "a deletion in the background waits for no dependents",
    plain,
    [],
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "a deletion in the foreground waits for dependents",
    plain,
    [],
    { propagationPolicy: "Foreground" },
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a deletion that orphans waits until dependents are let go",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "orphanDependents is the old way to say orphan",
    plain,
    [],
    { orphanDependents: true },
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "orphanDependents that is false is the old way to say background",
    plain,
    [foreground],
    { orphanDependents: false },
    "gone",
  ],
  [
    "a policy that an object holds twice stays there twice",
    plain,
    [foreground, foreground],
    {},
    { finalizers: [foreground, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "the policy that is asked for takes the place of the object's own",
    plain,
    [orphan, own],
    { propagationPolicy: "Foreground" },
    { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a policy that is asked for and already there stays where it is",
    plain,
    [orphan, own],
    { propagationPolicy: "Orphan" },
    { finalizers: [orphan, own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a deletion that names no policy follows the object's own",
    plain,
    [foreground],
    {},
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a deletion in the background takes a policy away, not other finalizers",
    plain,
    [foreground, own],
    { propagationPolicy: "Background" },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a kind that orphans by itself does so where nobody says otherwise",
    orphaning,
    [],
    {},
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "an object's own policy overrides what its kind does by itself",
    orphaning,
    [foreground],
    {},
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "the policy of a request overrides what the kind does by itself",
    orphaning,
    [],
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "a kind that ends in good order is given its usual time",
    graceful,
    [],
    {},
    { grace: 30, time: at(30), generation: 2 },
  ],
  [
    "a deletion may ask for another time than the usual",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a time of less than nothing is a second",
    graceful,
    [],
    { gracePeriodSeconds: -7 },
    { grace: 1, time: at(1), generation: 2 },
  ],
  ["an object that is given no time goes at once", graceful, [], { gracePeriodSeconds: 0 }, "gone"],
  [
    "an object that is given no time waits for its finalizer all the same",
    graceful,
    [own],
    { gracePeriodSeconds: 0 },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "an object with a finalizer is given its time, too",
    graceful,
    [own],
    { gracePeriodSeconds: 5 },
    { finalizers: [own], grace: 5, time: at(5), generation: 2 },
  ],
  [
    "an object that is given time waits for its policy, too",
    graceful,
    [],
    { propagationPolicy: "Foreground" },
    { finalizers: [foreground], grace: 30, time: at(30), generation: 2 },
  ],
];
for (const [name, kind, finalizers, options, left] of cases) {
  test(name, async (t) => {
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

const withoutRevision = (object: { metadata: object }): unknown => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: "" },
});
const shown = ({
  finalizers,
  deletionGracePeriodSeconds,
  deletionTimestamp,
  generation,
}: ConfigMap["metadata"]): unknown => ({
  ...(finalizers && { finalizers }),
  grace: deletionGracePeriodSeconds,
  time: deletionTimestamp,
  generation,
});

const again: [
  name: string,
  kind: Strategy,
  finalizers: string[],
  first: Options,
  second: Options,
  left: Left | "gone",
][] = [
  [
    "a second deletion changes nothing",
    plain,
    [own],
    {},
    {},
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a second deletion may still choose a policy",
    plain,
    [own],
    {},
    { propagationPolicy: "Foreground" },
    { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a second deletion without a policy keeps the first one's",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    {},
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a second deletion can let go of the first one's policy",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "a second deletion cannot give more time",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { gracePeriodSeconds: 50 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion that says nothing of time leaves what is left",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    {},
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion cannot choose a policy while the time runs",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { propagationPolicy: "Foreground" },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a shorter time of a second deletion counts from the first",
    graceful,
    [],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 5 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion that gives no time ends it at once",
    graceful,
    [],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 0 },
    "gone",
  ],
  [
    "a second deletion that gives no time leaves an object with a finalizer marked",
    graceful,
    [own],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 0 },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
];
for (const [name, kind, finalizers, first, second, left] of again) {
  test(name, async (t) => {
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
    for (const { value } of changes)
      seen.push(
        value === null
          ? "gone"
          : (JSON.parse(Buffer.from(value).toString()) as ConfigMap).metadata.deletionTimestamp
            ? "marked"
            : "there",
      );
    if (seen.length === 3) stop.abort();
  }
  assert.deepEqual(seen, ["there", "marked", "gone"]);
});

test("events know no dependents: whatever the policy, they go at once", async (t) => {
  const { create, remove, get } = await shelf(t, event);
  for (const options of [
    { propagationPolicy: "Foreground" },
    { propagationPolicy: "Orphan" },
    { orphanDependents: true },
    { gracePeriodSeconds: 30 },
    {},
  ]) {
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
  test(`a namespace deleted with ${JSON.stringify(options)} is left with ${finalizers?.join() ?? "no finalizers of ours"}`, async (t) => {
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
  await update(
    "n",
    { transform: (old) => ({ ...old!, spec: { finalizers: [] } }) },
    { subresource: "finalize" },
  );
  assert.equal(await get("n"), undefined);
});

const uid = "00000000-0000-0000-0000-000000000000";
test("an object that does not meet the preconditions of its deletion stays", async (t) => {
  const { create, remove, get } = await shelf(t, plain);
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
    (await remove("a", { preconditions: { uid: its!, resourceVersion: resourceVersion! } })).gone,
    true,
  );
});

const blamed: [kind: Strategy, sent: Sent, named: string][] = [
  [configMap, { metadata: { name: "a" } }, "ConfigMap"],
  [namespace, { metadata: { name: "a" } }, "namespaces"],
];
for (const [kind, sent, named] of blamed) {
  test(`an unmet precondition on ${kind.resource} is a conflict that names ${named}`, async (t) => {
    const { create, remove } = await shelf(t, kind);
    await create(sent);
    await assert.rejects(
      remove("a", { preconditions: { uid: "other" } }),
      (error) => error instanceof ApiError && error.details?.kind === named,
    );
  });
}

test("a precondition that was met and no longer is, is a conflict", async (t) => {
  const { create, remove, edit, get } = await shelf(t, plain, {
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

test("a deletion that lost a race looks again: a finalizer added meanwhile is respected", async (t) => {
  const { create, remove, edit } = await shelf(t, plain, {
    beforeWrite: async (write, count) =>
      void (
        count === 2 &&
        write.value === null &&
        (await edit("a", (object) => void (object.metadata.finalizers = [own])))
      ),
  });
  await create(map());
  const { gone, object } = await remove("a");
  assert.deepEqual([gone, object.metadata.finalizers], [false, [own]]);
});

test("of two deletions at once one does it, and the other finds nothing", async (t) => {
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
  [
    "options that say in both ways what becomes of dependents are refused",
    { orphanDependents: true, propagationPolicy: "Orphan" },
    ["Invalid propagationPolicy"],
  ],
  ["an unknown policy is refused", { propagationPolicy: "Sideways" }, ["NotSupported propagationPolicy"]],
  ["an empty policy is refused", { propagationPolicy: "" }, ["NotSupported propagationPolicy"]],
  ["an unknown dry run is refused", { dryRun: ["All", "Some"] }, ["NotSupported dryRun"]],
];
for (const [name, options, causes] of refused) {
  test(name, async (t) => {
    const { request } = await shelf(t, plain);
    assert.deepEqual(await causesOf(Promise.try(() => validateDeleteOptions(request(), options))), causes);
  });
}

test("a kind that leaves dependents behind warns those who did not say so", async (t) => {
  const { request, warnings } = await shelf(t, orphaning);
  for (const options of [{ propagationPolicy: "Background" }, { orphanDependents: true }])
    validateDeleteOptions(request(), options);
  assert.deepEqual(warnings, []);
  validateDeleteOptions(request(), {});
  assert.deepEqual(warnings, ["dependents stay"]);
});

test("a removal answers with the object as it was, under a revision of its own", async (t) => {
  const { create, remove, resource } = await shelf(t, plain);
  const { metadata } = await create(map());
  const { object } = await remove("a");
  assert.equal(object.metadata.uid, metadata.uid);
  assert.ok(
    Number(object.metadata.resourceVersion) > Number(metadata.resourceVersion),
    "a deletion has a revision of its own",
  );
  assert.equal(Number(object.metadata.resourceVersion), resource.source.revision());
});
