import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "#api";
import { type Sent, shelf, shelfNow } from "./registry.fixture.ts";
import type { validateDeleteOptions } from "./remove.ts";
import type { Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { event } from "./strategies/event.ts";
import { namespace } from "./strategies/namespace.ts";
import { timestamp } from "./request.ts";

type Options = Parameters<typeof validateDeleteOptions>[1];
const [orphan, foreground, own] = ["orphan", "foregroundDeletion", "example.com/mine"];
const at = (seconds: number): string => timestamp(new Date(shelfNow + seconds * 1000));
const plain: Strategy = { ...configMap, generation: true };
/** Objects with a grace period of thirty seconds unless another one is requested. */
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
for (const propagationPolicy of ["Foreground", "Orphan"])
  test(`without a garbage collector a deletion with ${propagationPolicy} waits for nobody`, async (t) => {
    const settings = { allowPrivileged: false, eventTtlSeconds: 3600, garbageCollection: false };
    const { create, remove, get } = await shelf(t, plain);
    await create(map());
    assert.equal((await remove("a", { propagationPolicy }, { settings })).gone, true);
    assert.equal(await get("a"), undefined);
  });

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
