import assert from "node:assert/strict";
import { test } from "node:test";
import { Compacted, openMemory } from "#store";
import { encodedThing, prefix, readThing } from "./source.fixture.ts";
import { StoredObjects, sortedByRevision } from "./stored-object.ts";

async function stored(budgetBytes?: number) {
  const store = await openMemory();
  const objects = new StoredObjects(prefix, store.local(), readThing, budgetBytes);
  const put = async (key: string) => {
    const value = encodedThing(key, { color: "red", labels: { app: "a" } });
    const outcome = await store.write({ key: prefix + key, value, expect: "any" });
    assert.ok(outcome.done);
    return objects.at(prefix + key, outcome.revision);
  };
  return { store, objects, put };
}

test("an object is read when more than its key is accessed", async () => {
  const { put, objects } = await stored();
  const object = await put("n/a");
  assert.deepEqual([object.key, object.loaded], [`${prefix}n/a`, undefined]);
  assert.deepEqual([object.namespace, object.name, object.loaded], ["n", "a", undefined]);
  assert.equal(object.fields["color"], "red");
  assert.deepEqual({ ...object.labels }, { app: "a" });
  assert.equal(object.loaded, object.load());
  assert.equal(objects.bytes, object.line.length);
  assert.equal(JSON.parse(object.json.toString()).metadata.resourceVersion, String(object.revision));
});

test("bytes beyond the budget are evicted, oldest first, and read again", async () => {
  const { put, objects } = await stored(350);
  const all = [await put("n/a"), await put("n/b"), await put("n/c"), await put("n/d")];
  for (const object of all) object.load();
  assert.deepEqual(
    all.map(({ loaded }) => loaded !== undefined),
    [false, false, true, true],
  );
  assert.ok(objects.bytes <= 350);
  assert.equal(all[0]!.fields["color"], "red");
  assert.deepEqual(
    all.map(({ loaded }) => loaded !== undefined),
    [true, false, false, true],
  );
});

test("released objects free their bytes and can be read again", async () => {
  const { put, objects } = await stored();
  const kept = await put("n/kept");
  kept.load();
  const bytes = objects.bytes;
  for (let round = 0; round < 3000; round++) {
    const object = objects.hold(kept.load());
    assert.equal(objects.bytes, 2 * bytes);
    objects.release(object);
    objects.release(object);
    assert.deepEqual([object.loaded, objects.bytes], [undefined, bytes]);
  }
  const again = objects.at(kept.key, kept.revision);
  assert.equal(again.fields["color"], "red");
  assert.deepEqual([kept.loaded !== undefined, objects.bytes], [true, 2 * bytes]);
});

test("several objects are read at once, whether or not they are in memory", async () => {
  const { put, objects } = await stored();
  const all = [await put("n/a"), await put("n/b"), await put("n/c")];
  all[1]!.load();
  const items = objects.loadAll([...all, all[0]!.load()]);
  assert.deepEqual(
    items.map(({ name }) => name),
    ["a", "b", "c", "a"],
  );
  assert.deepEqual(
    all.map(({ loaded }) => loaded),
    items.slice(0, 3),
  );
});

test("reading a compacted object is an error", async () => {
  const { store, put, objects } = await stored();
  const old = await put("n/a");
  const { revision } = await put("n/a");
  await store.compact(revision);
  assert.throws(() => objects.loadAll([old]), Compacted);
  assert.throws(() => old.load(), Compacted);
});

for (const [name, scale] of [
  ["small", 1],
  ["very large", 2 ** 50],
] as const) {
  test(`objects are sorted by revisions that are ${name}`, async () => {
    const { objects } = await stored();
    const items = [5, 3, 9, 1].map((revision) => objects.at(String(revision), revision * scale));
    assert.deepEqual(
      sortedByRevision(items).map(({ key }) => key),
      ["1", "3", "5", "9"],
    );
  });
}
