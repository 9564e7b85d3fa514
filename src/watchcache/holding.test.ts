import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLabelSelector, selector } from "#base";
import { openMemory } from "#store";
import { HeldInStore } from "./holding.ts";
import { encodedThing, prefix, readThing } from "./source.fixture.ts";

test("objects in the store are found by a label without all of them being read again", async () => {
  const store = await openMemory();
  let reads = 0;
  const holding = new HeldInStore(prefix, (entry) => (reads++, readThing(entry)), {
    values: store.local,
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
  const asked = selector(parseLabelSelector("app=web"), []);
  const found = async (): Promise<string[]> => {
    await holding.ready(asked, () => items);
    return [...holding.candidates(asked)!].map(({ key }) => key.slice(prefix.length)).sort();
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
