import assert from "node:assert/strict";
import { test } from "node:test";
import { Demux, type Watching } from "./demux.ts";
import { Change, type Frame, bytesOf } from "./frame.ts";
import { atRevision, type CachedObject } from "./cached-object.ts";
import { by, encodedThing, prefix, readThing, type Thing } from "./source.fixture.ts";

const cached = (key: string, revision: number, what: Thing = {}): CachedObject =>
  readThing({ key: prefix + key, value: encodedThing(key, what), revision, created: revision });
const changed = (item: CachedObject, previous?: CachedObject): Change =>
  new Change(item.revision, item, previous, false);
const gone = (revision: number, previous: CachedObject): Change =>
  new Change(revision, atRevision(previous, revision), previous, true);

function watching(
  labels: string,
  fields = "",
  below = "",
  after = 0,
): Watching & { readonly got: (readonly Frame[])[]; readonly texts: () => string[]; ends: number } {
  const got: (readonly Frame[])[] = [];
  const made = {
    prefix: prefix + below,
    selector: by(labels, fields),
    after,
    got,
    ends: 0,
    watcher: { deliver: (frames: readonly Frame[]) => void got.push(frames), ended: () => void made.ends++ },
    texts: () => got.flat().map(({ type, item }) => `${type} ${item.name}`),
  };
  return made;
}

test("each watcher receives exactly the changes that match", () => {
  const demux = new Demux(prefix);
  const watchers = {
    all: watching(""),
    inN: watching("", "", "n/"),
    red: watching("", "color=red"),
    blue: watching("", "color=blue"),
    web: watching("app=web"),
    notWeb: watching("app!=web"),
    redInM: watching("", "color=red", "m/"),
  };
  for (const one of Object.values(watchers)) demux.add(one, false);
  assert.equal(demux.size, 7);
  const a1 = cached("n/a", 1, { color: "red" });
  const a2 = cached("n/a", 2, { color: "blue", labels: { app: "web" } });
  const b3 = cached("m/b", 3, { color: "red" });
  for (const change of [changed(a1), changed(a2, a1), changed(b3), gone(4, a2)]) demux.apply(change);
  demux.flush();
  demux.flush();
  assert.deepEqual(Object.fromEntries(Object.entries(watchers).map(([name, one]) => [name, one.texts()])), {
    all: ["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"],
    inN: ["ADDED a", "MODIFIED a", "DELETED a"],
    red: ["ADDED a", "DELETED a", "ADDED b"],
    blue: ["ADDED a", "DELETED a"],
    web: ["ADDED a", "DELETED a"],
    notWeb: ["ADDED a", "DELETED a", "ADDED b"],
    redInM: ["ADDED b"],
  });
});

test("watchers without a selector receive the same array, whose bytes are joined once", () => {
  const demux = new Demux(prefix);
  const [one, other] = [watching(""), watching("")];
  demux.add(one, false);
  demux.add(other, false);
  demux.apply(changed(cached("n/a", 1)));
  demux.apply(changed(cached("n/b", 2)));
  demux.flush();
  assert.equal(one.got[0], other.got[0]);
  let encoded = 0;
  const encoder = {
    encode: (type: string, item: CachedObject) => (encoded++, Buffer.from(`${type} ${item.name};`)),
  };
  assert.equal(Buffer.from(bytesOf(one.got[0]!, encoder)).toString(), "ADDED a;ADDED b;");
  assert.equal(bytesOf(one.got[0]!, encoder), bytesOf(other.got[0]!, encoder));
  assert.equal(encoded, 2);
});

test("all groups of watchers share the encoding of a frame, which is not kept after its delivery", () => {
  const demux = new Demux(prefix);
  let encoded = 0;
  const encoder = { encode: () => Buffer.from(String(++encoded)) };
  const seen: Frame[] = [];
  for (const below of ["", "n/"]) {
    const deliver = (frames: readonly Frame[]): void => {
      bytesOf(frames, encoder);
      seen.push(...frames);
    };
    demux.add({ ...watching("", "", below), watcher: { deliver, ended: () => undefined } }, false);
  }
  demux.apply(changed(cached("n/a", 1)));
  demux.flush();
  assert.equal(seen.length, 2);
  assert.equal(seen[0], seen[1]);
  assert.equal(encoded, 1);
  seen[0]!.bytes(encoder);
  assert.equal(encoded, 2);
});

test("a watcher that starts at a future revision receives nothing before it", () => {
  const demux = new Demux(prefix);
  const [ahead, present] = [watching("", "", "", 2), watching("")];
  demux.add(ahead, true);
  demux.add(present, false);
  for (const revision of [1, 2, 3]) demux.apply(changed(cached(`n/${revision}`, revision)));
  demux.flush();
  assert.deepEqual(ahead.texts(), ["ADDED 3"]);
  assert.equal(present.texts().length, 3);
});

test("a removed watcher receives nothing more, others do", () => {
  const demux = new Demux(prefix);
  const pairs = [
    [watching(""), watching("")],
    [watching("", "color=red"), watching("", "color=red")],
    [watching("a!=b"), watching("a!=b")],
  ] as const;
  for (const pair of pairs) for (const one of pair) demux.add(one, false);
  for (const [left] of pairs) {
    demux.delete(left);
    demux.delete(left);
  }
  demux.apply(changed(cached("n/a", 1, { color: "red" })));
  for (const [, stayed] of pairs.slice(1)) demux.delete(stayed);
  demux.flush();
  assert.deepEqual(
    pairs.map(([left, stayed]) => [left.got.length, stayed.got.length]),
    [
      [0, 1],
      [0, 0],
      [0, 0],
    ],
  );
  assert.equal(demux.size, 1);
});

test("all watchers are ended once, and collected frames are dropped", () => {
  const demux = new Demux(prefix);
  const all = [watching(""), watching("", "color=red"), watching("a!=b")];
  for (const one of all) demux.add(one, false);
  demux.apply(changed(cached("n/a", 1, { color: "red" })));
  demux.end();
  demux.end();
  demux.flush();
  assert.deepEqual(
    all.map(({ ends, got }) => [ends, got.length]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
});
