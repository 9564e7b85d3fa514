// Reads: order, ranges, pages of one snapshot, and old revisions as long as they are kept.

import assert from "node:assert/strict";
import { Compacted, FutureRevision } from "../store.ts";
import { type Case, type Kit, bytes, inParallel, list, put, remove, shown } from "./harness.contract.ts";

const names = async (
  kit: Kit,
  range: { prefix?: string; after?: string; limit?: number },
): Promise<string[]> => {
  const { after, ...rest } = range;
  return (await list(kit, undefined, { ...rest, ...(after !== undefined && { after }) })).map(
    (line) => line.split("=")[0]!,
  );
};

export const readCases: readonly Case[] = [
  [
    "reading an absent key returns no entry, at the newest revision",
    async (kit) => {
      const revision = await put(kit, "other", "x");
      assert.deepEqual(await kit.store.read({ key: `${kit.prefix}key` }), {
        revision,
        entries: [],
        remaining: 0,
      });
      assert.deepEqual(await kit.store.read({ prefix: `${kit.prefix}key/` }), {
        revision,
        entries: [],
        remaining: 0,
      });
    },
  ],
  [
    "a read at any revision returns the state at that revision",
    async (kit) => {
      const steps: [name: string, value: string | null][] = [
        ["a", "1"], ["b", "1"], ["a", "2"], ["b", null], ["c", "1"], ["b", "2"], ["a", null], ["b", "3"], ["a", "3"], ["c", "2"],
      ]; // prettier-ignore
      const state = new Map<string, { value: string; revision: number; created: number }>();
      const past: [revision: number, entries: unknown[]][] = [[kit.start, []]];
      for (const [name, value] of steps) {
        const revision = value === null ? await remove(kit, name) : await put(kit, name, value);
        if (value === null) state.delete(name);
        else state.set(name, { value, revision, created: state.get(name)?.created ?? revision });
        past.push([
          revision,
          [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => ({ key, ...entry })),
        ]);
      }
      for (const [revision, entries] of past) {
        const page = await kit.store.read({ prefix: kit.prefix }, revision);
        assert.deepEqual(
          { ...page, entries: page.entries.map((entry) => shown(kit, entry)) },
          { revision, entries, remaining: 0 },
        );
        for (const name of ["a", "b", "c"]) {
          const one = await kit.store.read({ key: kit.prefix + name }, revision);
          assert.deepEqual(
            one.entries.map((entry) => shown(kit, entry)),
            entries.filter((entry) => (entry as { key: string }).key === name),
          );
        }
      }
    },
  ],
  [
    "keys are ordered by their UTF-8 bytes",
    async (kit) => {
      const sorted = [
        "",
        "!",
        "-",
        "/",
        "/a",
        "/a/b",
        "0",
        "A",
        "Z",
        "a",
        "a!",
        "a-b",
        "a/b",
        "a/c",
        "aa",
        "z",
        "~",
        "é",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "😀",
        "😁",
      ];
      assert.deepEqual(
        sorted,
        sorted.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))),
        "the table is right",
      );
      await inParallel(8, sorted.toReversed(), async (name) => void (await put(kit, `k${name}`, "")));
      assert.deepEqual(
        await names(kit, {}),
        sorted.map((name) => `k${name}`),
      );
      for (const [i, name] of sorted.entries())
        assert.deepEqual(
          await names(kit, { after: `${kit.prefix}k${name}` }),
          sorted.slice(i + 1).map((after) => `k${after}`),
        );
    },
  ],
  [
    "a prefix selects exactly the keys that begin with it",
    async (kit) => {
      const keys = ["a", "a/", "a/1", "a/2/x", "a0", "ab", "b", "b\u{10ffff}", "b\u{10ffff}c", "c"];
      await inParallel(8, keys, async (name) => void (await put(kit, name, "")));
      for (const prefix of ["", "a", "a/", "a/1", "a/2", "b", "b\u{10ffff}", "d", "a/1/"])
        assert.deepEqual(
          await names(kit, { prefix }),
          keys.filter((key) => key.startsWith(prefix)),
          prefix,
        );
    },
  ],
  [
    "the empty prefix selects every key",
    async (kit) => {
      await put(kit, "key", "x");
      const { entries } = await kit.store.read({ prefix: "" });
      assert.ok(entries.some((entry) => entry.key === `${kit.prefix}key`));
    },
  ],
  [
    "limit, after and remaining work at any position of a range",
    async (kit) => {
      const keys = Array.from({ length: 9 }, (_, i) => `k/${i}`);
      await inParallel(4, [...keys, "j", "k", "l"], async (name) => void (await put(kit, name, "")));
      const afters = [undefined, "", "j", "k/", "k/0", "k/3", "k/33", "k/8", "k/9", "l"];
      for (const after of afters) {
        for (const limit of [undefined, 0, 1, 2, 8, 9, 10]) {
          const behind = keys.filter((key) => after === undefined || key > after);
          const page = await kit.store.read({
            prefix: `${kit.prefix}k/`,
            ...(after !== undefined && { after: kit.prefix + after }),
            ...(limit !== undefined && { limit }),
          });
          const expected = limit ? behind.slice(0, limit) : behind;
          assert.deepEqual(
            page.entries.map((entry) => entry.key.slice(kit.prefix.length)),
            expected,
            `after ${after}, limit ${limit}`,
          );
          assert.equal(page.remaining, behind.length - expected.length, `after ${after}, limit ${limit}`);
        }
      }
    },
  ],
  [
    "pages read at the first page's revision form one snapshot",
    async (kit) => {
      const keys = Array.from({ length: 30 }, (_, i) => `k${String(i).padStart(2, "0")}`);
      await inParallel(8, keys, async (name) => void (await put(kit, name, "old")));
      const found: string[] = [];
      let page = await kit.store.read({ prefix: kit.prefix, limit: 7 });
      const { revision } = page;
      for (let turn = 0; ; turn++) {
        assert.equal(page.revision, revision);
        found.push(
          ...page.entries.map(
            (entry) => `${entry.key.slice(kit.prefix.length)}=${new TextDecoder().decode(entry.value)}`,
          ),
        );
        assert.equal(page.remaining, keys.length - found.length);
        if (page.remaining === 0) break;
        await put(kit, `k${turn}5x`, "new");
        await put(kit, `k${29 - turn}`, "changed");
        await remove(kit, `k${28 - 2 * turn}`);
        page = await kit.store.read(
          { prefix: kit.prefix, after: page.entries.at(-1)!.key, limit: 7 },
          revision,
        );
      }
      assert.deepEqual(
        found,
        keys.map((key) => `${key}=old`),
      );
    },
  ],
  [
    "thousands of keys are read completely",
    async (kit) => {
      const keys = Array.from({ length: 2500 }, (_, i) => `k${String((i * 7919) % 2500).padStart(5, "0")}`);
      await inParallel(128, keys, async (name) => void (await put(kit, name, name)));
      assert.deepEqual(
        await list(kit),
        keys.toSorted().map((key) => `${key}=${key}`),
      );
      const { entries, remaining } = await kit.store.read({
        prefix: kit.prefix,
        after: `${kit.prefix}k00999`,
        limit: 600,
      });
      assert.deepEqual(
        [entries.length, entries[0]!.key.slice(kit.prefix.length), remaining],
        [600, "k01000", 900],
      );
    },
  ],
  [
    "a future revision is refused with the newest one in the error",
    async (kit) => {
      const newest = await put(kit, "key", "x");
      for (const range of [{ key: `${kit.prefix}key` }, { prefix: kit.prefix }]) {
        await assert.rejects(
          async () => kit.store.read(range, newest + 1),
          (error) => error instanceof FutureRevision && error.current === newest,
        );
      }
      await assert.rejects(async () => kit.store.compact(newest + 1), FutureRevision);
    },
  ],
  [
    "compaction removes only history before its revision",
    async (kit) => {
      const first = await put(kit, "a", "1");
      await put(kit, "b", "1");
      await put(kit, "gone", "1");
      await put(kit, "a", "2");
      await remove(kit, "gone");
      const compactedAt = await put(kit, "back", "1");
      await remove(kit, "back");
      const again = await put(kit, "back", "2");
      await put(kit, "a", "3");
      await kit.store.compact(compactedAt);
      assert.deepEqual(await list(kit), ["a=3", "b=1", "back=2"]);
      assert.deepEqual(await list(kit, compactedAt), ["a=2", "b=1", "back=1"]);
      assert.deepEqual(await list(kit, compactedAt + 1), ["a=2", "b=1"]);
      const { entries } = await kit.store.read({ key: `${kit.prefix}a` });
      assert.equal(entries[0]!.created, first, "a key keeps its creation revision");
      for (const range of [{ key: `${kit.prefix}a` }, { prefix: kit.prefix }]) {
        await assert.rejects(
          async () => kit.store.read(range, compactedAt - 1),
          (error) => error instanceof Compacted && error.compacted === compactedAt,
        );
      }
      await kit.store.compact(compactedAt - 2);
      await kit.store.compact(compactedAt);
      assert.equal((await kit.store.status()).compacted, compactedAt, "compacting backwards is ignored");
      await kit.store.compact(again + 1);
      assert.deepEqual(await list(kit), ["a=3", "b=1", "back=2"]);
      assert.deepEqual(await list(kit, again + 1), ["a=3", "b=1", "back=2"]);
      assert.equal((await kit.store.read({ key: `${kit.prefix}back` })).entries[0]!.created, again);
    },
  ],
  [
    "compacting a deletion does not decrease the revision",
    async (kit) => {
      await put(kit, "key", "x");
      const deletedAt = await remove(kit, "key");
      await kit.store.compact(deletedAt);
      assert.equal((await kit.store.read({ prefix: kit.prefix })).revision, deletedAt);
      assert.equal(await put(kit, "key", "y", { expect: "absent" }), deletedAt + 1);
    },
  ],
  [
    "status counts revisions, keys and bytes",
    async (kit) => {
      const before = await kit.store.status();
      assert.equal(before.revision, kit.start);
      await inParallel(
        8,
        Array.from({ length: 20 }, (_, i) => `k${i}`),
        async (name) => void (await put(kit, name, "x".repeat(50_000))),
      );
      await put(kit, "k1", "again");
      const last = await remove(kit, "k2");
      const after = await kit.store.status();
      assert.equal(after.revision, last);
      assert.equal(after.keys, before.keys + 19);
      assert.ok(after.bytes > 500_000, `${after.bytes} bytes`);
      await kit.store.compact(last);
      assert.equal((await kit.store.status()).compacted, last);
    },
  ],
  [
    "a closed store refuses every call, and may be closed twice",
    async ({ store, prefix }) => {
      await store.close();
      await store.close();
      await assert.rejects(async () => store.read({ key: prefix }));
      await assert.rejects(async () => store.write({ key: prefix, value: bytes(""), expect: "any" }));
      await assert.rejects(async () => store.status());
      await assert.rejects(async () => store.compact(1));
      await assert.rejects(async () => store.progress());
    },
  ],
];
