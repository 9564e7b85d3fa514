import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemory } from "#store";
import { ResourceCache } from "./resource-cache.ts";
import { by, encodedThing, prefix, readThing, turns } from "./source.fixture.ts";
import type { CachedObject } from "./cached-object.ts";

/** A cache with the given number of objects, and a counter of reads of their fields. */
async function cacheOf(count: number) {
  const store = await openMemory();
  const feed = {
    store,
    reached: async () => undefined,
    current: async () => 1,
    revision: () => 1,
  };
  const cache = new ResourceCache(prefix, readThing, feed, { indexedFields: ["color"] });
  const red = readThing({
    key: `${prefix}n/0`,
    value: encodedThing("n/0", { color: "red" }),
    revision: 1,
    created: 1,
  });
  let fieldReads = 0;
  const items = Array.from({ length: count }, (_, at): CachedObject => {
    const fields = at === 0 ? red.fields : { ...red.fields, color: "blue" };
    return Object.defineProperty({ ...red, key: `${prefix}n/${at}` }, "fields", {
      get: () => (fieldReads++, fields),
    });
  });
  cache.reset(items, 1);
  return { cache, fieldReads: () => fieldReads };
}

const query = { below: "", selector: by("", "color=red"), freshness: { at: "any" } } as const;

test("a large cache builds its indexes in advance", async () => {
  const { cache, fieldReads } = await cacheOf(10_000);
  while (fieldReads() < 10_000) await turns();
  await turns();
  const before = fieldReads();
  assert.equal((await cache.list(query)).items.length, 1);
  assert.ok(fieldReads() - before < 100, `${fieldReads() - before} objects were looked at`);
});

test("a small cache builds an index on demand", async () => {
  const { cache, fieldReads } = await cacheOf(1000);
  await turns();
  assert.equal(fieldReads(), 0);
  assert.equal((await cache.list(query)).items.length, 1);
  assert.ok(fieldReads() >= 1000);
});
