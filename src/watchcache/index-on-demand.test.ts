import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexesOnDemand } from "./index-on-demand.ts";
import { by, encodedThing, prefix, readThing, type Thing } from "./source.fixture.ts";
import type { Held } from "./held.ts";

const thing = (key: string, what: Thing): Held => readThing({ key: prefix + key, value: encodedThing(key, what), revision: 1, created: 1 });
const names = (found: Iterable<Held> | undefined): string[] | undefined => found && [...found].map(({ name }) => name).sort();

test("the rarest value that is asked for gives the candidates", () => {
  const all = Array.from({ length: 100 }, (_, i) => thing(`n/${i}`, { labels: { app: "web", shard: String(i % 10) }, color: i === 3 ? "red" : "blue" }));
  const indexes = new IndexesOnDemand();
  assert.equal(names(indexes.candidates(by("app=web"), () => all))!.length, 100);
  assert.equal(names(indexes.candidates(by("app=web,shard=7"), () => all))!.length, 10);
  assert.deepEqual(names(indexes.candidates(by("app=web,shard=3", "color=red"), () => all)), ["3"]);
  assert.deepEqual(names(indexes.candidates(by("app=web,shard=none"), () => all)), []);
  assert.equal(
    indexes.candidates(by("app!=web,shard"), () => all),
    undefined,
    "nothing exact is asked for",
  );
  assert.equal(
    indexes.candidates(by("", "metadata.namespace=n"), () => all),
    undefined,
  );
});

test("an index is built once and follows every change", () => {
  const all = new Map<string, Held>();
  const indexes = new IndexesOnDemand();
  let built = 0;
  const found = (labels: string, fields = ""): string[] =>
    names(
      indexes.candidates(by(labels, fields), () => {
        built++;
        return all.values();
      }),
    )!;
  const set = (key: string, what: Thing | undefined): void => {
    const item = what && thing(key, what);
    indexes.replace(all.get(key), item);
    if (item) all.set(key, item);
    else all.delete(key);
  };
  assert.deepEqual(found("app=web"), []);
  set("n/a", { labels: { app: "web" } });
  set("n/b", { labels: { app: "web" } });
  set("n/c", {});
  assert.deepEqual(found("app=web"), ["a", "b"]);
  set("n/a", { labels: { app: "db" } });
  assert.deepEqual([found("app=web"), found("app=db")], [["b"], ["a"]]);
  set("n/b", undefined);
  assert.deepEqual(found("app=web"), []);
  set("n/b", { labels: { app: "web" } });
  assert.deepEqual(found("app=web"), ["b"]);
  assert.equal(built, 1);
  assert.deepEqual(found("", "color="), ["a", "b", "c"], "an absent field counts as empty");
});

test("only the indexes used last are kept", () => {
  const indexes = new IndexesOnDemand();
  let built = 0;
  const ask = (label: string): void =>
    void indexes.candidates(by(`${label}=x`), () => {
      built++;
      return [];
    });
  for (let i = 0; i < 16; i++) ask(`l${i}`);
  ask("l0");
  assert.equal(built, 16);
  ask("l16");
  ask("l0");
  assert.equal(built, 17, "the one used lately stayed");
  ask("l1");
  assert.equal(built, 18, "the one used longest ago went");
});

test("a selector with very many values builds only a few indexes", () => {
  const indexes = new IndexesOnDemand();
  let built = 0;
  const item = thing("n/a", { labels: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`l${i}`, "x"])) });
  const found = indexes.candidates(by(Array.from({ length: 30 }, (_, i) => `l${i}=x`).join(",")), () => {
    built++;
    return [item];
  });
  assert.deepEqual([names(found), built], [["a"], 4]);
});
