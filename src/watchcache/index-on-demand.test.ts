import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexesOnDemand } from "./index-on-demand.ts";
import { by, encodedThing, prefix, readThing, type Thing } from "./source.fixture.ts";
import type { CachedObject } from "./cached-object.ts";

const thing = (key: string, what: Thing): CachedObject =>
  readThing({ key: prefix + key, value: encodedThing(key, what), revision: 1, created: 1 });
const names = (found: Iterable<CachedObject> | undefined): string[] | undefined =>
  found && [...found].map(({ name }) => name).sort();

/** Indexes of the items returned by `all`, which is called when an index is built. */
function indexesOver(all: () => readonly CachedObject[]) {
  const indexes = new IndexesOnDemand();
  let built = 0;
  const ready = (labels: string, fields = ""): Promise<void> =>
    indexes.ready(by(labels, fields), () => {
      built++;
      return all();
    });
  const found = async (labels: string, fields = ""): Promise<string[] | undefined> => {
    await ready(labels, fields);
    return names(indexes.candidates(by(labels, fields)));
  };
  return { indexes, ready, found, built: () => built };
}

test("candidates are those with the rarest required value", async () => {
  const all = Array.from({ length: 100 }, (_, i) =>
    thing(`n/${i}`, { labels: { app: "web", shard: String(i % 10) }, color: i === 3 ? "red" : "blue" }),
  );
  const { found } = indexesOver(() => all);
  assert.equal((await found("app=web"))!.length, 100);
  assert.equal((await found("app=web,shard=7"))!.length, 10);
  assert.deepEqual(await found("app=web,shard=3", "color=red"), ["3"]);
  assert.deepEqual(await found("app=web,shard=none"), []);
  assert.equal(await found("app!=web,shard"), undefined, "the selector requires no exact value");
  assert.equal(await found("", "metadata.namespace=n"), undefined);
});

test("an index is built once and follows changes", async () => {
  const all = new Map<string, CachedObject>();
  const { indexes, found, built } = indexesOver(() => [...all.values()]);
  const set = (key: string, what: Thing | undefined): void => {
    const item = what && thing(key, what);
    indexes.replace(all.get(key), item);
    if (item) all.set(key, item);
    else all.delete(key);
  };
  assert.deepEqual(await found("app=web"), []);
  set("n/a", { labels: { app: "web" } });
  set("n/b", { labels: { app: "web" } });
  set("n/c", {});
  assert.deepEqual(await found("app=web"), ["a", "b"]);
  set("n/a", { labels: { app: "db" } });
  assert.deepEqual([await found("app=web"), await found("app=db")], [["b"], ["a"]]);
  set("n/b", undefined);
  assert.deepEqual(await found("app=web"), []);
  set("n/b", { labels: { app: "web" } });
  assert.deepEqual(await found("app=web"), ["b"]);
  assert.equal(built(), 1);
  assert.deepEqual(await found("", "color="), ["a", "b", "c"], "an absent field counts as empty");
});

test("an index includes changes made while it is built, and concurrent callers wait for it", async () => {
  const one = thing("n/x", { labels: { app: "web" } });
  const all = Array.from({ length: 200_000 }, (_, i) => ({
    ...one,
    key: `n/${i}`,
    name: String(i),
  }));
  const { indexes, ready, found, built } = indexesOver(() => all);
  const building = ready("app=web");
  const waiting = found("app=web");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(indexes.candidates(by("app=web")), undefined, "an incomplete index is not used");
  const moved = thing("n/moved", { labels: { app: "db" } });
  indexes.replace(all[0], moved);
  indexes.replace(all.at(-1), undefined);
  const late = thing("n/late", { labels: { app: "web" } });
  indexes.replace(undefined, late);
  await building;
  const here = new Set(indexes.candidates(by("app=web")));
  assert.deepEqual(
    [here.size, here.has(all[0]!), here.has(all.at(-1)!), here.has(late), here.has(moved)],
    [all.length - 1, false, false, true, false],
  );
  assert.deepEqual(names(indexes.candidates(by("app=db"))), ["moved"]);
  assert.equal((await waiting)!.length, all.length - 1);
  assert.equal(built(), 1);
});

test("least recently used indexes are evicted", async () => {
  const { ready, built } = indexesOver(() => []);
  for (let i = 0; i < 16; i++) await ready(`l${i}=x`);
  await ready("l0=x");
  assert.equal(built(), 16);
  await ready("l16=x");
  await ready("l0=x");
  assert.equal(built(), 17, "the recently used index is kept");
  await ready("l1=x");
  assert.equal(built(), 18, "the least recently used index is evicted");
});

test("a selector with very many values builds only a few indexes", async () => {
  const item = thing("n/a", {
    labels: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`l${i}`, "x"])),
  });
  const { found, built } = indexesOver(() => [item]);
  assert.deepEqual(
    [await found(Array.from({ length: 30 }, (_, i) => `l${i}=x`).join(",")), built()],
    [["a"], 4],
  );
});

test("warmed indexes are available at once and follow changes made meanwhile", async () => {
  const all = [thing("n/a", { color: "red" }), thing("n/b", { color: "red" })];
  const { indexes, found, built } = indexesOver(() => all);
  const warming = indexes.warm(["color"], () => all);
  indexes.replace(all[0], thing("n/a", { color: "blue" }));
  await warming;
  assert.deepEqual(await found("", "color=red"), ["b"]);
  assert.deepEqual(await found("", "color=blue"), ["a"]);
  assert.equal(built(), 0);
});

test("warming stops when all objects are replaced", async () => {
  const indexes = new IndexesOnDemand();
  const calls: string[] = [];
  const warming = indexes.warm(["color", "metadata.name"], () => {
    calls.push("all");
    return [];
  });
  indexes.clear();
  await warming;
  assert.equal(calls.length, 1);
});
