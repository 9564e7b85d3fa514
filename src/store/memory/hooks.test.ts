import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { Change } from "../store.ts";
import { type MemoryStore, openMemory } from "./memory.ts";

const put = async (store: MemoryStore, key: string, value: string, ttlSeconds?: number): Promise<void> => {
  await store.write({ key, value: Buffer.from(value), expect: "any", ...(ttlSeconds && { ttlSeconds }) });
};
const state = async (store: MemoryStore, at?: number): Promise<string> =>
  (await store.read({ prefix: "" }, at)).entries
    .map((entry) => `${entry.key}=${Buffer.from(entry.value).toString()}`)
    .join(" ");

test("a fork shares history up to the fork only", async () => {
  const store = await openMemory();
  for (const value of ["1", "2"]) for (const key of ["a", "b"]) await put(store, key, value);
  const fork = store.fork();
  await put(store, "a", "mine");
  await store.write({ key: "b", value: null, expect: "any" });
  await put(fork, "c", "theirs");
  assert.equal(await state(store), "a=mine");
  assert.equal(await state(fork), "a=2 b=2 c=theirs");
  assert.equal(await state(fork, 3), "a=1 b=1");
  await fork.compact(4);
  assert.equal(await state(store, 3), "a=1 b=1", "compacting one keeps the other's history");
  assert.equal((await fork.status()).revision, 6);
});

test("a fork of many keys is independent of later changes on either side", async () => {
  const store = await openMemory();
  for (let i = 0; i < 3000; i++) await put(store, `k${i}`, "old");
  const before = await state(store);
  const fork = store.fork();
  for (let i = 0; i < 3000; i += 7) await put(store, `k${i}`, "new");
  for (let i = 0; i < 3000; i += 11) await store.write({ key: `k${i}`, value: null, expect: "any" });
  await store.compact((await store.status()).revision);
  assert.equal(await state(fork), before);
  const after = await state(store);
  for (let i = 1; i < 3000; i += 5) await put(fork, `x${i}`, "fork");
  assert.equal(await state(store), after);
});

test("a fork's keys expire by its own clock", async () => {
  const clock = virtualClock();
  const store = await openMemory({ clock });
  await put(store, "a", "1", 10);
  const later = virtualClock(5000);
  const fork = store.fork({ clock: later });
  await later.advance(6000);
  assert.equal(await state(fork), "");
  assert.equal(await state(store), "a=1");
  await clock.advance(11_000);
  assert.equal(await state(store), "");
});

test("rewinding restores a revision or a fork by writes that watchers see", async () => {
  const store = await openMemory();
  await put(store, "a", "1");
  await put(store, "b", "1");
  const fork = store.fork();
  const { revision } = await store.status();
  const stop = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const batch of store.watch({ prefix: "" }, revision, stop.signal))
      seen.push(
        ...batch.changes.map(
          (change: Change) => `${change.key}=${change.value && Buffer.from(change.value).toString()}`,
        ),
      );
  })();
  await put(store, "a", "2");
  await put(store, "c", "1");
  await store.write({ key: "b", value: null, expect: "any" });
  await store.rewind(revision);
  assert.equal(await state(store), "a=1 b=1");
  await put(store, "d", "1");
  await store.rewind(fork);
  assert.equal(await state(store), "a=1 b=1");
  assert.equal((await store.status()).revision, revision + 8);
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await watching;
  assert.deepEqual(seen, ["a=2", "c=1", "b=null", "c=null", "a=1", "b=1", "d=1", "d=null"]);
});
