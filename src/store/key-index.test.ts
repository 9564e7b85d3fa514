import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { KeyIndex } from "./key-index.ts";
import { compareKeys, isPlainKey } from "./key-order.ts";

test("keys compare like their UTF-8 bytes", () => {
  const unit = fc.constantFrom(
    "a",
    "b",
    "\u0000",
    "é",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "😀",
    "😁",
    "\u{10ffff}",
  );
  const key = fc.string({ unit, maxLength: 4 });
  fc.assert(
    fc.property(key, key, (a, b) => {
      const expected = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.equal(Math.sign(compareKeys(a, b)), expected);
      if (isPlainKey(a) && isPlainKey(b)) assert.equal(a < b ? -1 : a > b ? 1 : 0, expected);
    }),
  );
});

test("a compaction that is abandoned and continued later drops every old version once", () => {
  const index = new KeyIndex();
  const keys = Array.from({ length: 1000 }, (_, at) => `k/${String(at).padStart(4, "0")}`);
  for (const [at, key] of keys.entries()) index.put(key, at + 1, at + 1);
  for (const [at, key] of keys.entries()) index.remove(key, at + 1001);
  for (const [at, key] of keys.slice(0, 10).entries()) index.put(key, at + 2001, at + 2001);
  const dropped: number[] = [];
  for (const step of index.trim(1500, 100)) {
    dropped.push(...step);
    if (dropped.length === 400) break;
  }
  for (const step of index.trim(3000, 100)) dropped.push(...step);
  const expected = Array.from({ length: 2000 }, (_, at) => at + 1);
  assert.deepEqual(
    dropped.toSorted((a, b) => a - b),
    expected,
  );
  assert.deepEqual(index.list({ prefix: "k/" }).keys, keys.slice(0, 10));
});

test("an index of thousands of keys finds, lists and counts them at any revision kept", () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.integer({ min: 1, max: 3000 }),
      fc.constantFrom("", "\uffff", "😀"),
      (seed, keys, tail) => {
        let random = seed >>> 0;
        const next = (below: number): number => {
          random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
          return Math.floor((random / 2 ** 32) * below);
        };
        let index = new KeyIndex();
        let state = new Map<string, { revision: number; created: number }>();
        const snapshots: [revision: number, state: typeof state][] = [];
        let compacted = 0;
        for (let revision = 2; revision < 6000; revision++) {
          const key = `k/${next(keys)}${next(50) === 0 ? tail : ""}`;
          const old = state.get(key);
          if (old && next(3) === 0) {
            state.delete(key);
            index.remove(key, revision);
          } else {
            const version = { revision, created: old?.created ?? revision };
            state.set(key, version);
            index.put(key, revision, version.created);
          }
          if (next(1500) === 0) snapshots.push([revision, new Map(state)]);
          if (next(4000) === 0) {
            compacted = revision;
            for (const _ of index.trim(revision, 100)) void _;
          }
          if (next(3000) === 0) index = index.fork();
        }
        snapshots.push([5999, new Map(state)]);
        assert.equal(index.size, state.size);
        for (const [revision, then] of snapshots.filter(([at]) => at >= compacted)) {
          const sorted = [...then].sort(([a], [b]) => compareKeys(a, b));
          const listing = index.list({ prefix: "k/" }, revision);
          assert.deepEqual(
            listing.keys.map((key, i) => [
              key,
              { revision: listing.revisions[i], created: listing.created[i] },
            ]),
            sorted,
          );
          const after = sorted[next(sorted.length)]?.[0] ?? "k/1";
          const limit = 1 + next(sorted.length + 2);
          const rest = sorted.filter(([key]) => key.startsWith("k/1") && compareKeys(key, after) > 0);
          const page = index.list({ prefix: "k/1", after, limit }, revision);
          assert.deepEqual(
            [page.keys, page.remaining],
            [rest.slice(0, limit).map(([key]) => key), Math.max(0, rest.length - limit)],
          );
          assert.deepEqual(index.find(after, revision), then.get(after));
        }
        state = new Map();
      },
    ),
    { numRuns: 8 },
  );
});
