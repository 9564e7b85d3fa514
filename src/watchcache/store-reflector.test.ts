import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type Batch, Compacted, type Store, openMemory } from "#store";
import { StoreReflector } from "./store-reflector.ts";
import type { ObjectSource } from "./source.ts";
import { by, encodedThing, keysOf, openCached, prefix, readThing, turns, watchOf } from "./source.fixture.ts";

const everything = { below: "", selector: by(""), freshness: { at: "latest" } } as const;

test("all objects are loaded in batches into the cache of their resource", async () => {
  const store = await openMemory();
  for (let i = 0; i < 2500; i++)
    await store.write({ key: `${prefix}n/${i}`, value: encodedThing(`n/${i}`, {}), expect: "any" });
  await store.write({ key: "/test/group/others/n/a", value: encodedThing("n/a", {}), expect: "any" });
  await store.write({ key: "/test/unknown", value: Buffer.from("not an object"), expect: "any" });
  const stop = new AbortController();
  const feed = new StoreReflector({ store, prefix: "/test/", clock: virtualClock(), signal: stop.signal });
  const [things, others] = [feed.cache(prefix, readThing), feed.cache("/test/group/others/", readThing)];
  assert.equal(feed.ready(), false);
  await feed.start();
  assert.deepEqual([feed.ready(), things.count(), others.count()], [true, 2500, 1]);
  await store.write({ key: "/test/group/others/n/b", value: encodedThing("n/b", {}), expect: "any" });
  await feed.current();
  assert.deepEqual([things.count(), others.count()], [2500, 2]);
  stop.abort();
  await feed.stopped();
  await store.close();
});

test("a cache counts its bytes, changes and lists", async () => {
  const store = await openMemory();
  await store.write({ key: `${prefix}n/a`, value: encodedThing("n/a", {}), expect: "any" });
  const stop = new AbortController();
  const feed = new StoreReflector({ store, prefix: "/test/", clock: virtualClock(), signal: stop.signal });
  const cache = feed.cache(prefix, readThing);
  await feed.start();
  const { bytes } = cache.stats;
  assert.ok(bytes > 0);
  await store.write({ key: `${prefix}n/b`, value: encodedThing("n/b", { data: "more" }), expect: "any" });
  await cache.list(everything);
  await cache.list(everything);
  const { stats } = cache;
  assert.ok(stats.bytes > 2 * bytes);
  assert.deepEqual(
    [stats.events, stats.initializations, stats.lists, stats.returned, stats.storeLists],
    [1, 1, 2, 4, 1],
  );
  await store.write({ key: `${prefix}n/b`, value: null, expect: "any" });
  await feed.current();
  assert.equal(stats.bytes, bytes);
  stop.abort();
  await feed.stopped();
  await store.close();
});

test("a store that fails while a reader waits for a revision fails only that request", async () => {
  const store = await openMemory();
  const clock = virtualClock();
  const stop = new AbortController();
  const feed = new StoreReflector({ store, prefix: "/test/", clock, signal: stop.signal });
  const cached = feed.cache(prefix, readThing);
  await feed.start();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  store.progress = () => Promise.reject(new Error("away"));
  const refused = assert.rejects(cached.get("n/a", { at: "notOlderThan", revision: 1000 }), {
    name: "NotYet",
  });
  await turns();
  await clock.advance(3000);
  await refused;
  process.off("unhandledRejection", note);
  assert.deepEqual(unhandled, []);
  stop.abort();
  await feed.stopped();
  await store.close();
});

test("a source that lags behind serves the state of the store and detects future revisions", async () => {
  const store = await openMemory();
  const clock = virtualClock();
  const stop = new AbortController();
  const silent: Store = new Proxy(store, {
    get: (_, name: Exclude<keyof Store, "isStale" | "local">) =>
      name === "watch"
        ? () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) })
        : (store[name] as (...given: unknown[]) => unknown).bind(store),
  });
  const feed = new StoreReflector({ store: silent, prefix: "/test/", clock, signal: stop.signal });
  const source = feed.cache(prefix, readThing);
  await feed.start();
  await store.write({ key: `${prefix}n/a`, value: encodedThing("n/a", {}), expect: "any" });
  const freshness = { at: "exactly", revision: 2 } as const;
  const results = Promise.all([source.list({ ...everything, freshness }), source.get("n/a", freshness)]);
  await turns();
  await clock.advance(3000);
  const [listing, held] = await results;
  assert.deepEqual(
    [keysOf(listing), listing.revision, held?.revision, source.revision()],
    [["n/a@2"], 2, 2, 1],
  );
  await assert.rejects(source.list({ ...everything, freshness: { at: "exactly", revision: 3 } }), {
    name: "FutureRevision",
  });
  stop.abort();
  await store.close();
});

test("all objects are loaded again when the store was restored from an older state", async () => {
  const before = await openMemory();
  const write = (store: Store, key: string) =>
    store.write({ key: prefix + key, value: encodedThing(key, {}), expect: "any" });
  await write(before, "n/a");
  const older = before.fork();
  for (const key of ["n/b", "n/c", "n/a"]) await write(before, key);
  let now: Store = before;
  const store = new Proxy(before, {
    get: (_, name: keyof Store) => (now[name] as (...given: unknown[]) => unknown).bind(now),
  });
  const stop = new AbortController();
  const restarts: unknown[] = [];
  const feed = new StoreReflector({
    store,
    prefix: "/test/",
    clock: virtualClock(),
    signal: stop.signal,
    onRestart: (error) => restarts.push(error),
  });
  const source = feed.cache(prefix, readThing);
  await feed.start();
  assert.equal((await source.list(everything)).items.length, 3);
  const watch = await watchOf(source, { from: source.revision() });
  const counted = source.changeCount();
  now = older;
  const shown = await Promise.all([source.list(everything), source.get("n/c", { at: "latest" })]);
  assert.deepEqual(
    [keysOf(shown[0]), shown[0].revision, shown[1], watch.over(), restarts.length],
    [["n/a@2"], 2, undefined, true, 1],
  );
  assert.ok(source.changeCount() > counted, "a state that is older counts as a change, too");
  await write(older, "n/d");
  assert.deepEqual(keysOf(await source.list(everything)), ["n/a@2", "n/d@3"]);
  stop.abort();
  await feed.stopped();
  for (const each of [before, older]) await each.close();
});

test("several changes of one revision are delivered in order, live and on resume", async () => {
  const { source, store, feed, close } = await openCached();
  const before = (await store.status()).revision;
  const watch = await watchOf(source, { from: before });
  const entry = (key: string, data = "") => ({
    key: prefix + key,
    value: encodedThing(key, { data }),
    revision: before + 1,
    created: before + 1,
  });
  // As a transaction of another program on the same etcd delivers them.
  for (const change of [entry("n/a"), entry("n/b"), entry("n/a", "again")]) source.apply(change);
  source.flush();
  assert.deepEqual(watch.seen, [
    `ADDED n/a@${before + 1}`,
    `ADDED n/b@${before + 1}`,
    `MODIFIED n/a@${before + 1}`,
  ]);
  assert.deepEqual((await watchOf(source, { from: before })).seen, watch.seen);
  assert.deepEqual((await watchOf(source, { from: before + 1 })).seen, []);
  assert.equal(feed.revision(), before);
  await close();
});

test("a long catch-up is split only between revisions", async () => {
  const { source, store, close } = await openCached();
  const { revision: before } = await store.status();
  const bulk = 600;
  for (let i = 0; i < bulk; i++)
    source.apply({
      key: `${prefix}n/${i}`,
      value: encodedThing(`n/${i}`, {}),
      revision: before + 1,
      created: before + 1,
    });
  for (let i = 0; i < bulk; i++)
    source.apply({
      key: `${prefix}n/${i}`,
      value: encodedThing(`n/${i}`, {}),
      revision: before + 2 + i,
      created: before + 1,
    });
  source.flush();
  const watch = await watchOf(source, { from: before }, { drained: () => Promise.resolve() });
  assert.deepEqual(watch.sizes, [600, 256, 256, 88]);
  assert.equal(new Set(watch.seen).size, 2 * bulk);
  await close();
});

test("equal queries return the same array until something changes", async () => {
  const { source, put, store, close } = await openCached();
  for (const key of ["n/a", "n/b", "m/c"]) await put(key, { labels: { app: key.slice(2) } });
  const ask = (query: object = {}) => source.list({ ...everything, ...query });
  const first = await ask();
  assert.equal((await ask()).items, first.items);
  assert.notEqual((await ask({ below: "n/" })).items, first.items);
  assert.deepEqual(
    [
      (await ask({ limit: 1 })).next,
      (await ask({ limit: 1 })).next,
      (await ask({ limit: 1, after: "m/c" })).items.length,
    ],
    ["m/c", "m/c", 1],
  );
  assert.deepEqual(
    (await ask({ selector: by("app=a") })).items.map(({ name }) => name),
    ["a"],
  );
  assert.deepEqual(
    (await ask({ selector: by("app=b") })).items.map(({ name }) => name),
    ["b"],
  );
  await store.write({ key: "/test/elsewhere", value: Buffer.from("x"), expect: "any" });
  const later = await ask();
  assert.equal(later.items, first.items);
  assert.ok(later.revision > first.revision, "the revision still advances");
  await put("n/d");
  assert.equal((await ask()).items.length, 4);
  assert.equal(first.items.length, 3);
  await close();
});

/** A store whose watches can be made to fail. */
async function brittle() {
  const store = await openMemory();
  let fail: ((error: Error) => void) | undefined;
  let reads = 0;
  const wrapped = new Proxy(store, {
    get: (target, name) => {
      if (name === "watch") {
        return async function* (...args: Parameters<Store["watch"]>): AsyncGenerator<Batch> {
          const broken = new Promise<never>((_, reject) => (fail = reject));
          broken.catch(() => undefined);
          const batches = target.watch(...args)[Symbol.asyncIterator]();
          for (;;) {
            const step = await Promise.race([batches.next(), broken]);
            if (step.done) return;
            yield step.value;
          }
        };
      }
      if (name === "read") reads++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  return { store: wrapped, fail: (error: Error) => fail!(error), reads: () => reads };
}

for (const [name, error] of [
  ["a compacted watch", new Compacted(5)],
  ["a failed watch", new Error("etcd went away")],
] as const) {
  test(`${name} reloads all objects, ends all watchers, and misses no change`, async () => {
    const { store, fail } = await brittle();
    const { source, feed, clock, put, remove, restarts, close } = await openCached({ store });
    await put("n/kept");
    await put("n/gone");
    await feed.current();
    const watch = await watchOf(source, { from: "now" });
    const from = feed.revision();
    fail(error);
    await turns();
    await remove("n/gone");
    await put("n/new");
    await clock.advance(10_000);
    await turns();
    assert.deepEqual(restarts, [error.name]);
    assert.deepEqual([watch.over(), watch.seen.filter((text) => text.includes("kept"))], [true, []]);
    assert.deepEqual(
      (await source.list(everything)).items.map((item) => item.name),
      ["kept", "new"],
    );
    assert.equal(feed.ready(), true);
    assert.equal(source.watchers(), 0);
    if (feed.revision() > from) await assert.rejects(watchOf(source, { from: from - 1 }), Compacted);
    const late = await watchOf(source, { from: "now" });
    const revision = await put("n/later");
    await feed.current();
    await turns();
    assert.deepEqual(late.seen, [`ADDED n/later@${revision}`]);
    await close();
  });
}

/** A watch whose reader has stopped during the initial state. */
async function stalledWatch(source: ObjectSource) {
  let resume = (): void => undefined;
  let over = false;
  const starting = source.watch(
    { below: "", selector: by(""), from: "state", signal: new AbortController().signal },
    {
      deliver: () => undefined,
      drained: () => new Promise((resolve) => (resume = resolve)),
      ended: () => (over = true),
    },
  );
  await turns();
  return {
    over: () => over,
    /** Reads until the watch has ended. */
    readOn: async (): Promise<void> => {
      while (!over) {
        resume();
        await turns(2);
      }
      await starting;
    },
  };
}

test("a watcher in its initial state is ended when all objects are reloaded", async () => {
  const { store, fail } = await brittle();
  const { source, clock, put, close } = await openCached({ store });
  for (let i = 0; i < 600; i++) await put(`n/${i}`);
  const watch = await stalledWatch(source);
  fail(new Compacted(5));
  await turns();
  await clock.advance(10_000);
  assert.equal(watch.over(), false);
  await watch.readOn();
  assert.equal(source.watchers(), 0);
  await close();
});

test("a watcher too slow to catch up with a short history is ended", async () => {
  const { source, put, settle, close } = await openCached({ bounds: { changes: 100, bytes: 1e9 } });
  for (let i = 0; i < 600; i++) await put(`n/${i}`);
  const watch = await stalledWatch(source);
  for (let i = 0; i < 200; i++) await put("n/1");
  await settle();
  await watch.readOn();
  await close();
});

test("stopping before everything is loaded rejects start(), and nothing is left running", async () => {
  const store = await openMemory();
  const stop = new AbortController();
  const broken = new Proxy(store, {
    get: (target, name) =>
      name === "read" ? () => Promise.reject(new Error("not up yet")) : Reflect.get(target, name),
  });
  const clock = virtualClock();
  const restarts: unknown[] = [];
  const feed = new StoreReflector({
    store: broken,
    prefix: "/test/",
    clock,
    signal: stop.signal,
    onRestart: (error) => restarts.push(error),
  });
  const starting = feed.start();
  await turns();
  await clock.advance(1000);
  assert.ok(restarts.length >= 2, "it keeps retrying");
  const refused = assert.rejects(starting, /stopped/);
  stop.abort();
  await refused;
  await feed.stopped();
});

test("after random changes the cache equals the store at every revision in the history", async () => {
  const { source, store, put, remove, settle, close } = await openCached({
    bounds: { changes: 64, bytes: 1e9 },
  });
  let seed = 42;
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const revisions: number[] = [];
  for (let i = 0; i < 500; i++) {
    const key = `${"mn"[random(2)]}/${random(12)}`;
    revisions.push(
      random(3) > 0
        ? await put(key, { labels: { app: "ab"[random(2)]! }, color: ["red", ""][random(2)]! })
        : await remove(key),
    );
  }
  await settle();
  for (const revision of new Set(revisions.slice(-200))) {
    for (const [labels, fields, below] of [
      ["", "", ""],
      ["app=a", "", ""],
      ["", "color=red", "n/"],
      ["app!=a", "", "m/"],
    ] as const) {
      const query = { below, selector: by(labels, fields), freshness: { at: "exactly", revision } } as const;
      const expected = (await store.read({ prefix: prefix + below }, revision)).entries
        .map(readThing)
        .filter((item) => query.selector.matches(item))
        .map((item) => `${item.key.slice(prefix.length)}@${item.revision}`);
      assert.deepEqual(keysOf(await source.list(query)), expected);
      const paged: string[] = [];
      for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
        const page = await source.list({ ...query, limit: 3, ...(after !== undefined && { after }) });
        paged.push(...keysOf(page));
        if (labels === "" && fields === "") assert.equal(page.remaining ?? 0, expected.length - paged.length);
        after = page.next;
      }
      assert.deepEqual(paged, expected);
    }
  }
  await close();
});
