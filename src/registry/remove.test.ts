import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "#api";
import { type Sent, harness, harnessNow } from "./registry.fixture.ts";
import type { validateDeleteOptions } from "./remove.ts";
import type { Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { event } from "./strategies/event.ts";
import { namespace } from "./strategies/namespace.ts";
import { timestamp } from "./request.ts";

type Options = Parameters<typeof validateDeleteOptions>[1];
const [orphan, foreground, own] = ["orphan", "foregroundDeletion", "example.com/mine"];
const at = (seconds: number): string => timestamp(new Date(harnessNow + seconds * 1000));
const plain: Strategy = { ...configMap, generation: true };
/** Objects with a grace period of thirty seconds unless another one is requested. */
const graceful: Strategy = { ...plain, graceSeconds: (_obj, requested) => requested ?? 30 };
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
  ["an object without finalizers is deleted immediately", plain, [], {}, "gone"],
  [
    "an object with a finalizer is only marked",
    plain,
    [own],
    {},
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a grace period is ignored by kinds without graceful deletion",
    plain,
    [],
    { gracePeriodSeconds: 10 },
    "gone",
  ],
  [
    "background deletion does not wait for dependents",
    plain,
    [],
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "foreground deletion waits for dependents",
    plain,
    [],
    { propagationPolicy: "Foreground" },
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "orphaning deletion waits until dependents are released",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "orphanDependents true means the policy Orphan",
    plain,
    [],
    { orphanDependents: true },
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "orphanDependents false means the policy Background",
    plain,
    [foreground],
    { orphanDependents: false },
    "gone",
  ],
  [
    "a finalizer that is present twice is kept twice",
    plain,
    [foreground, foreground],
    {},
    { finalizers: [foreground, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "the requested policy replaces the object's finalizer",
    plain,
    [orphan, own],
    { propagationPolicy: "Foreground" },
    { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a requested policy that is already present keeps its position",
    plain,
    [orphan, own],
    { propagationPolicy: "Orphan" },
    { finalizers: [orphan, own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "without a policy the object's finalizer applies",
    plain,
    [foreground],
    {},
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "background deletion removes the policy finalizer, not other finalizers",
    plain,
    [foreground, own],
    { propagationPolicy: "Background" },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a kind that orphans by default does so without a policy",
    orphaning,
    [],
    {},
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "the object's finalizer overrides the default of the kind",
    orphaning,
    [foreground],
    {},
    { finalizers: [foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "the requested policy overrides the default of the kind",
    orphaning,
    [],
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "graceful deletion uses the default grace period",
    graceful,
    [],
    {},
    { grace: 30, time: at(30), generation: 2 },
  ],
  [
    "the grace period of the request is used",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a negative grace period means one second",
    graceful,
    [],
    { gracePeriodSeconds: -7 },
    { grace: 1, time: at(1), generation: 2 },
  ],
  ["a grace period of zero deletes immediately", graceful, [], { gracePeriodSeconds: 0 }, "gone"],
  [
    "with a grace period of zero the object still waits for its finalizer",
    graceful,
    [own],
    { gracePeriodSeconds: 0 },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "an object with a finalizer gets a grace period, too",
    graceful,
    [own],
    { gracePeriodSeconds: 5 },
    { finalizers: [own], grace: 5, time: at(5), generation: 2 },
  ],
  [
    "an object with a grace period waits for its policy finalizer, too",
    graceful,
    [],
    { propagationPolicy: "Foreground" },
    { finalizers: [foreground], grace: 30, time: at(30), generation: 2 },
  ],
];
for (const [name, kind, finalizers, options, left] of cases) {
  test(name, async (t) => {
    const { create, remove, get } = await harness(t, kind);
    await create(map(finalizers));
    const dry = await remove("a", options, { dryRun: true });
    assert.equal((await get("a"))!.metadata.deletionTimestamp, undefined);
    const { deleted, object } = await remove("a", options);
    const stored = await get("a");
    assert.equal(dry.deleted, deleted);
    assert.deepEqual(withoutRevision(dry.object), withoutRevision(object));
    if (left === "gone") {
      assert.equal(deleted, true);
      assert.equal(stored, undefined);
      return;
    }
    assert.equal(deleted, false);
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
    "a second deletion may choose a policy",
    plain,
    [own],
    {},
    { propagationPolicy: "Foreground" },
    { finalizers: [own, foreground], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a second deletion without a policy keeps the first one",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    {},
    { finalizers: [orphan], grace: 0, time: at(0), generation: 2 },
  ],
  [
    "a second deletion can remove the policy of the first one",
    plain,
    [],
    { propagationPolicy: "Orphan" },
    { propagationPolicy: "Background" },
    "gone",
  ],
  [
    "a second deletion cannot extend the grace period",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { gracePeriodSeconds: 50 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion without a grace period keeps the remaining one",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    {},
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion cannot choose a policy during the grace period",
    graceful,
    [],
    { gracePeriodSeconds: 5 },
    { propagationPolicy: "Foreground" },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a shorter grace period counts from the first deletion",
    graceful,
    [],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 5 },
    { grace: 5, time: at(5), generation: 2 },
  ],
  [
    "a second deletion with a grace period of zero deletes immediately",
    graceful,
    [],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 0 },
    "gone",
  ],
  [
    "a second deletion with a grace period of zero keeps an object with a finalizer",
    graceful,
    [own],
    { gracePeriodSeconds: 50 },
    { gracePeriodSeconds: 0 },
    { finalizers: [own], grace: 0, time: at(0), generation: 2 },
  ],
];
for (const propagationPolicy of ["Foreground", "Orphan"])
  test(`without a garbage collector a deletion with ${propagationPolicy} does not wait for dependents`, async (t) => {
    const settings = { allowPrivileged: false, eventTtlSeconds: 3600, garbageCollection: false };
    const { create, remove, get } = await harness(t, plain);
    await create(map());
    assert.equal((await remove("a", { propagationPolicy }, { settings })).deleted, true);
    assert.equal(await get("a"), undefined);
  });

for (const [name, kind, finalizers, first, second, left] of again) {
  test(name, async (t) => {
    const { create, remove, get } = await harness(t, kind);
    await create(map(finalizers));
    await remove("a", first);
    const { deleted } = await remove("a", second);
    const stored = await get("a");
    assert.equal(deleted, left === "gone");
    assert.deepEqual(stored && shown(stored.metadata), left === "gone" ? undefined : left);
  });
}

test("a repeated deletion does not write", async (t) => {
  const { create, remove, writes } = await harness(t, plain);
  await create(map([own]));
  await remove("a");
  const before = writes();
  await remove("a");
  assert.equal(writes(), before);
});

test("an object with a zero grace period is marked before it is deleted", async (t) => {
  const { create, remove, store } = await harness(t, graceful);
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

test("events have no dependents and are deleted immediately with any policy", async (t) => {
  const { create, remove, get } = await harness(t, event);
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
    assert.equal((await remove("a", options)).deleted, true);
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
  test(`a namespace deleted with ${JSON.stringify(options)} keeps ${finalizers?.join() ?? "no policy finalizers"}`, async (t) => {
    const { create, remove } = await harness(t, namespace);
    await create({ metadata: { name: "a" } });
    assert.deepEqual((await remove("a", options)).object.metadata.finalizers, finalizers);
  });
}

test("a namespace is marked first and deleted when its finalizers are removed", async (t) => {
  const { create, remove, update, get } = await harness(t, namespace);
  await create({ metadata: { name: "n" } });
  const { deleted, object } = await remove("n");
  assert.equal(deleted, false);
  assert.equal((object["status"] as { phase: string }).phase, "Terminating");
  assert.equal((await remove("n")).deleted, false);
  await update(
    "n",
    { transform: (old) => ({ ...old!, spec: { finalizers: [] } }) },
    { subresource: "finalize" },
  );
  assert.equal(await get("n"), undefined);
});
