import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseFieldSelector, parseLabelSelector, selector } from "#base";
import { Compacted, type LocalValues, openMemory } from "#store";
import { chunkRows } from "./column-chunk.ts";
import { HeldInStore } from "./holding.ts";
import type { StoredObject } from "./stored-object.ts";
import { encodedThing, openCached, prefix, readThing, watchOf } from "./source.fixture.ts";

test("a label index of objects in the store does not read them again", async () => {
  const store = await openMemory();
  let reads = 0;
  const holding = new HeldInStore(prefix, (entry) => (reads++, readThing(entry)), {
    values: store.local(),
    fields: ["color"],
  });
  const write = async (key: string, app: string | undefined) => {
    const value = app === undefined ? null : encodedThing(key, { labels: { app } });
    const outcome = await store.write({ key: prefix + key, value, expect: "any" });
    assert.ok(outcome.done);
    return outcome.revision;
  };
  for (const [key, app] of [
    ["n/a", "web"],
    ["n/b", "db"],
    ["n/c", "web"],
  ] as const)
    await write(key, app);
  const items = holding.stored(await store.progress());
  holding.load(items);
  const webSelector = selector(parseLabelSelector("app=web"), []);
  const found = async (): Promise<string[]> => {
    await holding.ready(webSelector, () => items);
    return [...holding.candidates(webSelector)!].map(({ key }) => key.slice(prefix.length)).sort();
  };
  assert.deepEqual(await found(), ["n/a", "n/c"]);
  const before = reads;
  assert.deepEqual(await found(), ["n/a", "n/c"]);
  assert.equal(reads, before);

  const [a, b] = items;
  const changed = holding.stored(await write("n/b", "web"))[1]!;
  holding.replace(b, changed);
  assert.deepEqual(await found(), ["n/a", "n/b", "n/c"]);
  await write("n/a", undefined);
  holding.replace(a, undefined);
  assert.deepEqual(await found(), ["n/b", "n/c"]);
  await store.close();
});

test("of many objects one is looked up before a client does, and no other is read", async () => {
  const store = await openMemory();
  const keys = Array.from({ length: 2 * chunkRows }, (_, at) => `n/${at}`);
  await Promise.all(
    keys.map((key) =>
      store.write({ key: prefix + key, value: encodedThing(key, { color: key }), expect: "absent" }),
    ),
  );
  const revision = await store.progress();
  const start = () => {
    const holding = new HeldInStore(prefix, readThing, { values: store.local(), fields: ["color"] });
    const items = holding.stored(revision) as readonly StoredObject[];
    holding.load(items);
    return { holding, items };
  };
  const { holding, items } = start();
  // This start reads all objects and saves their hashes.
  await holding.ready(selector([], parseFieldSelector("color=red")), () => items);
  const { items: restarted, holding: again } = start();
  while (!restarted.at(-1)!.loaded) await nextTurn();
  await again.indexed;
  assert.equal(restarted.filter(({ loaded }) => loaded).length, 1);
  await store.close();
});

test("a long response is read into lent memory, and cached objects are not", async () => {
  const store = await openMemory();
  for (let at = 0; at < 65; at++) {
    const value = encodedThing(`n/${at}`, {});
    await store.write({ key: `${prefix}n/${at}`, value, expect: "any" });
  }
  const memory = Buffer.alloc(1);
  const values: LocalValues = {
    ...store.local(),
    values: (revisions, onBuffer) => (onBuffer?.(memory), store.local().values(revisions)),
  };
  const holding = new HeldInStore(prefix, readThing, { values, fields: [] });
  const items = holding.stored(await store.progress());
  holding.load(items);
  assert.deepEqual((await holding.withBytes(items)).lent, [memory]);
  assert.deepEqual((await holding.withBytes(items.slice(1))).lent, []);
  await store.close();
});

test("a deletion does not read the object, which watchers can read until it is compacted", async () => {
  const { source, store, settle, close, put, remove } = await openCached({ inStore: true });
  const revisions = [await put("n/a"), await put("n/b")];
  await settle();
  const last = source.revision();
  source.reset(source.stored(last)!, last);
  const unread = ["n/a", "n/b"].map((key) => source.getCached(key) as StoredObject);
  for (const [at, { key, revision }] of unread.entries())
    source.apply({ key, value: null, revision: last + 1 + at, created: revision });
  assert.deepEqual(
    revisions,
    unread.map(({ revision }) => revision),
  );
  assert.deepEqual(
    unread.map(({ loaded }) => loaded),
    [undefined, undefined],
  );

  await remove("n/a");
  await remove("n/b");
  await settle();
  const { seen, stop } = await watchOf(source, { from: last + 1 });
  assert.deepEqual(seen, [`DELETED n/b@${last + 2}`]);
  stop();
  await store.compact(last + 2);
  await assert.rejects(watchOf(source, { from: last }), Compacted);
  await close();
});
