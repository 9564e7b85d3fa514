import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemory } from "#store";
import { withRevision, type CachedObject } from "./cached-object.ts";
import { chunkRows } from "./column-chunk.ts";
import { FieldColumns, hashOf } from "./field-columns.ts";
import { by, encodedThing } from "./source.fixture.ts";

const fields = ["metadata.name", "color", "shape"];

function item(revision: number, color: string, shape = "round"): CachedObject {
  const name = `i${revision}`;
  return withRevision(`/test/${name}`, revision, encodedThing(`n/${name}`, { color }), {
    name,
    namespace: "n",
    labels: {},
    fields: { color, shape },
  });
}

async function columns(more: { readonly fields?: readonly string[] } = {}) {
  const { derived } = await openMemory();
  const open = (with_ = more.fields ?? fields): FieldColumns =>
    new FieldColumns({ fields: with_, derived, name: "test" });
  return { open, pieces: () => derived.read("test") };
}

const found = (index: FieldColumns, selector: string): number[] | undefined =>
  index.candidates(by("", selector))?.map(({ revision }) => revision);

const cases: [selector: string, revisions: number[] | undefined][] = [
  ["color=red", [1, 3]],
  ["color=red,shape=square", [3]],
  ["metadata.name=i2", [2]],
  ["color=green", []],
  ["color!=red", undefined],
  ["size=1", undefined],
  ["color=red,color!=blue", [1, 3]],
];
for (const [selector, revisions] of cases) {
  test(`${selector} is found by columns: ${revisions?.join(", ") ?? "no"}`, async () => {
    const index = (await columns()).open();
    index.load([item(1, "red"), item(2, "blue"), item(3, "red", "square")]);
    await index.ready();
    assert.deepEqual(found(index, selector), revisions);
  });
}

test("the index follows changes, and values shared by nearly all objects are not looked up", async () => {
  const index = (await columns()).open();
  const items = Array.from({ length: 3000 }, (_, i) => item(i + 1, i % 1000 === 0 ? "red" : "blue"));
  index.load(items);
  assert.equal(found(index, "color=red"), undefined, "not before all objects are read");
  await index.ready();
  index.replace(items[1000], item(3001, "green"));
  index.replace(items[2], undefined);
  assert.deepEqual(found(index, "color=red"), [1, 2001]);
  assert.deepEqual(found(index, "color=green"), [3001]);
  assert.equal(found(index, "color=blue"), undefined);
});

/** Two full chunks and some more objects; every thousandth is red. */
const many = Array.from({ length: chunkRows * 2 + 10 }, (_, i) =>
  item(i + 1, i % 1000 === 0 ? "red" : "blue"),
);
const reds = many.filter(({ fields: { color } }) => color === "red").map(({ revision }) => revision);

/** Objects that record when they are read. */
function unread(items: readonly CachedObject[]): { items: CachedObject[]; read: () => number } {
  let count = 0;
  const wrapped = items.map(
    (one) =>
      new Proxy(one, {
        get: (target, name) => {
          if (name === "fields") count++;
          return target[name as keyof CachedObject];
        },
      }),
  );
  return { items: wrapped, read: () => count };
}

test("full chunks are saved, and only other objects are read after a restart", async () => {
  const { open, pieces } = await columns();
  const first = open();
  first.load(many);
  await first.ready();
  assert.deepEqual(
    pieces().map(({ piece }) => piece),
    [1, chunkRows + 1],
  );
  const again = open();
  const { items, read } = unread(many);
  again.load(items);
  await again.ready();
  assert.ok(read() < 100, `${read()} reads`);
  assert.deepEqual(found(again, "color=red"), reds);
});

test("objects replaced while the index was not running are not found, and empty chunks are deleted", async () => {
  const { open, pieces } = await columns();
  const first = open();
  first.load(many);
  await first.ready();
  const left = many.slice(chunkRows + 500);
  const again = open();
  again.load(left);
  await again.ready();
  assert.deepEqual(
    found(again, "color=red"),
    reds.filter((revision) => revision > chunkRows + 500),
  );
  assert.deepEqual(
    pieces().map(({ piece }) => piece),
    [chunkRows + 1],
  );
});

test("sparse chunks are merged", async () => {
  const { open, pieces } = await columns();
  const index = open();
  index.load(many);
  await index.ready();
  for (const one of many.slice(0, chunkRows * 2)) if (one.revision % 8 !== 1) index.replace(one, undefined);
  assert.equal(pieces().length, 1);
  const left = many.filter(({ revision }) => revision > chunkRows * 2 || revision % 8 === 1);
  const redLeft = left.filter(({ fields: { color } }) => color === "red").map(({ revision }) => revision);
  assert.deepEqual(found(index, "color=red"), redLeft);
  const again = open();
  const { items, read } = unread(left);
  again.load(items);
  await again.ready();
  assert.deepEqual(found(again, "color=red"), redLeft);
  assert.ok(read() < 100, `${read()} reads`);
});

const useless: [name: string, prepare: (kit: Awaited<ReturnType<typeof columns>>) => Promise<void>][] = [
  [
    "chunks of other fields",
    async ({ open }) => {
      const other = open(["color"]);
      other.load(many);
      await other.ready();
    },
  ],
  [
    "a chunk that lacks an object",
    async ({ open }) => {
      const other = open();
      other.load(many.filter(({ revision }) => revision !== 2001));
      await other.ready();
    },
  ],
];
for (const [name, prepare] of useless) {
  test(`${name} are discarded, and all objects are read`, async () => {
    const kit = await columns();
    await prepare(kit);
    const index = kit.open();
    index.load(many);
    await index.ready();
    assert.deepEqual(found(index, "color=red"), reds);
    assert.deepEqual(
      kit.pieces().map(({ piece }) => piece),
      [1, chunkRows + 1],
    );
  });
}

test("objects after saved chunks, written by a program that saves none, are read", async () => {
  const { open } = await columns();
  const first = open();
  first.load(many.slice(0, chunkRows));
  await first.ready();
  const again = open();
  again.load(many);
  await again.ready();
  assert.deepEqual(found(again, "color=red"), reds);
});

test("nothing is looked up if an object cannot be read", async () => {
  const index = (await columns()).open();
  const damaged = new Proxy(item(2, "red"), {
    get: (target, name) => {
      if (name === "fields") throw new Error("damaged");
      return target[name as keyof CachedObject];
    },
  });
  index.load([item(1, "red"), damaged]);
  await index.ready();
  assert.equal(found(index, "color=red"), undefined);
});

test("hashes are compatible with those saved by earlier releases", () =>
  assert.deepEqual([hashOf(""), hashOf("a"), hashOf("Pod")], [0x811c9dc5, 0xe40c292c, hashOf("Pod")]));
