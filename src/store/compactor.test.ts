import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { compactPeriodically } from "./compactor.ts";
import { openMemory } from "./memory/memory.ts";
import type { Revision, Store } from "./store.ts";

const put = async (store: Store): Promise<Revision> => {
  const outcome = await store.write({ key: "k", value: Buffer.from("x"), expect: "any" });
  assert.ok(outcome.done);
  return outcome.revision;
};
const compactedOf = async (store: Store): Promise<Revision> => (await store.status()).compacted;

/** Returns the store as one server sees it, recording that server's compactions. */
const seenBy = (store: Store, compactions: Revision[]): Store => ({
  read: (...args) => store.read(...args),
  write: (write) => store.write(write),
  watch: (...args) => store.watch(...args),
  progress: () => store.progress(),
  compact: async (through) => {
    compactions.push(through);
    await store.compact(through);
  },
  status: () => store.status(),
  close: () => store.close(),
});

test("a single server compacts every interval to the revision of one interval ago", async () => {
  const clock = virtualClock();
  const store = await openMemory({ clock });
  const stop = new AbortController();
  const running = compactPeriodically({ store, clock, intervalSeconds: 300, signal: stop.signal });
  await put(store);
  await clock.advance(300_000);
  assert.equal(await compactedOf(store), 0, "the first interval's history is kept");
  const then = (await store.status()).revision;
  for (let i = 0; i < 3; i++) await put(store);
  await clock.advance(300_000);
  assert.equal(await compactedOf(store), then);
  const later = (await store.status()).revision;
  await clock.advance(299_000);
  assert.equal(await compactedOf(store), then);
  await clock.advance(1000);
  assert.equal(await compactedOf(store), later);
  stop.abort();
  await running;
  await clock.advance(3_000_000);
  assert.equal(await compactedOf(store), later, "nothing is compacted after the stop");
});

test("several servers take turns, and the others continue when one stops", async () => {
  const clock = virtualClock();
  const store = await openMemory({ clock });
  const servers = [0, 1, 2].map((i) => ({
    compactions: [] as Revision[],
    stop: new AbortController(),
    offset: i * 1000,
  }));
  const running: Promise<void>[] = [];
  for (const server of servers) {
    await clock.advance(1000);
    running.push(
      compactPeriodically({
        store: seenBy(store, server.compactions),
        clock,
        intervalSeconds: 300,
        signal: server.stop.signal,
      }),
    );
  }
  for (let round = 0; round < 6; round++) {
    await put(store);
    await clock.advance(300_000);
  }
  assert.deepEqual(
    servers.map((server) => server.compactions.length),
    [5, 0, 0],
    "one compaction per interval",
  );
  servers[0]!.stop.abort();
  const before = await compactedOf(store);
  for (let round = 0; round < 3; round++) {
    await put(store);
    await clock.advance(300_000);
  }
  assert.ok((await compactedOf(store)) > before);
  assert.deepEqual(
    servers.map((server) => server.compactions.length > 0),
    [true, true, false],
  );
  const all = servers.flatMap((server) => server.compactions);
  assert.deepEqual(
    all,
    all.toSorted((a, b) => a - b),
  );
  for (const server of servers) server.stop.abort();
  await Promise.all(running);
});

test("a failed round is reported, and the next one runs", async () => {
  const clock = virtualClock();
  const store = await openMemory({ clock });
  const stop = new AbortController();
  const errors: string[] = [];
  let failing = true;
  const flaky: Store = {
    ...seenBy(store, []),
    write: async (write) => {
      if (failing) throw new Error("away");
      return store.write(write);
    },
  };
  const running = compactPeriodically({
    store: flaky,
    clock,
    intervalSeconds: 10,
    signal: stop.signal,
    onError: (error) => errors.push((error as Error).message),
  });
  await clock.advance(20_000);
  failing = false;
  for (let round = 0; round < 3; round++) {
    await put(store);
    await clock.advance(10_000);
  }
  assert.deepEqual(errors, ["away", "away"]);
  assert.ok((await compactedOf(store)) > 0);
  stop.abort();
  await running;
});

test("an interval of zero never compacts", async () => {
  const clock = virtualClock();
  const compactions: Revision[] = [];
  const store = seenBy(await openMemory({ clock }), compactions);
  const stop = new AbortController();
  const running = compactPeriodically({ store, clock, intervalSeconds: 0, signal: stop.signal });
  const revision = await put(store);
  for (let hour = 0; hour < 3; hour++) {
    await clock.advance(3_600_000);
    await put(store);
  }
  stop.abort();
  await running;
  assert.deepEqual(compactions, []);
  assert.equal((await store.status()).revision, revision + 3, "there are no other writers");
});
