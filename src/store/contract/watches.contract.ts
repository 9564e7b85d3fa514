// Watches: every change after the start revision, once and in order, or an error if that is impossible.

import assert from "node:assert/strict";
import { type Change, Compacted, type Revision } from "../store.ts";
import {
  type Case,
  type Kit,
  bytes,
  checkBatch,
  drain,
  inParallel,
  put,
  remove,
  shownChange,
  watchUntil,
} from "./harness.contract.ts";

/** Writes a short history and returns the changes a watcher of the whole prefix must see. */
async function story(kit: Kit): Promise<{ changes: unknown[]; last: Revision }> {
  const s = kit.start;
  await put(kit, "a", "1");
  await put(kit, "b", "1");
  await put(kit, "a", "2");
  await kit.store.write({ key: `${kit.prefix}a`, value: bytes("lost"), expect: "absent" });
  await remove(kit, "a");
  await remove(kit, "a");
  await put(kit, "a", "3");
  await put(kit, "ab", "1");
  await put(kit, "a", "3");
  const changes = [
    { key: "a", value: "1", revision: s + 1, created: s + 1, previous: undefined },
    { key: "b", value: "1", revision: s + 2, created: s + 2, previous: undefined },
    {
      key: "a",
      value: "2",
      revision: s + 3,
      created: s + 1,
      previous: { key: "a", value: "1", revision: s + 1, created: s + 1 },
    },
    {
      key: "a",
      value: null,
      revision: s + 4,
      created: s + 1,
      previous: { key: "a", value: "2", revision: s + 3, created: s + 1 },
    },
    { key: "a", value: "3", revision: s + 5, created: s + 5, previous: undefined },
    { key: "ab", value: "1", revision: s + 6, created: s + 6, previous: undefined },
    {
      key: "a",
      value: "3",
      revision: s + 7,
      created: s + 5,
      previous: { key: "a", value: "3", revision: s + 5, created: s + 5 },
    },
  ];
  return { changes, last: s + 7 };
}

const seen = (kit: Kit, changes: readonly Change[]): unknown[] =>
  changes.map((change) => shownChange(kit, change));

/**
 * Opens a watch of the prefix that is consumed on demand: `next` returns the next changes, skipping progress
 * notifications.
 */
function open(
  kit: Kit,
  after: Revision,
  stop: AbortController,
): { next(): Promise<Change[]>; end(): Promise<void> } {
  const iterator = kit.store.watch({ prefix: kit.prefix }, after, stop.signal)[Symbol.asyncIterator]();
  return {
    next: async () => {
      for (;;) {
        const { value, done } = await iterator.next();
        if (done) return [];
        if (value.changes.length) return [...value.changes];
      }
    },
    end: async () => {
      stop.abort();
      await iterator.return?.();
    },
  };
}

export const watchCases: readonly Case[] = [
  [
    "a watch started afterwards sees the whole history with previous entries",
    async (kit) => {
      const { changes, last } = await story(kit);
      assert.deepEqual(seen(kit, await drain(kit.store, { prefix: kit.prefix }, kit.start, last)), changes);
    },
  ],
  [
    "a watch started beforehand sees the same history",
    async (kit) => {
      const watched = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start,
        (changes) => changes.length >= 7,
      );
      const { changes } = await story(kit);
      assert.deepEqual(seen(kit, await watched), changes);
    },
  ],
  [
    "a watch from any revision sees exactly the changes after it",
    async (kit) => {
      const { changes, last } = await story(kit);
      for (let after = kit.start; after <= last; after++) {
        assert.deepEqual(
          seen(kit, await drain(kit.store, { prefix: kit.prefix }, after, last)),
          changes.slice(after - kit.start),
          `after ${after}`,
        );
      }
    },
  ],
  [
    "a watch from revision zero sees everything or fails as compacted",
    async (kit) => {
      const { changes, last } = await story(kit);
      const { compacted } = await kit.store.status();
      const watched = drain(kit.store, { prefix: kit.prefix }, 0, last);
      if (compacted === 0) assert.deepEqual(seen(kit, await watched), changes);
      else await assert.rejects(watched, Compacted);
      await kit.store.compact(last);
      await assert.rejects(
        drain(kit.store, { prefix: kit.prefix }, 0, last),
        (error) => error instanceof Compacted && error.compacted === last,
      );
    },
  ],
  [
    "a watch of one key does not see keys that begin with it",
    async (kit) => {
      const { changes, last } = await story(kit);
      const of = (key: string): unknown[] =>
        changes.filter((change) => (change as { key: string }).key === key);
      for (const key of ["a", "b", "ab", "c"])
        assert.deepEqual(
          seen(kit, await drain(kit.store, { key: kit.prefix + key }, kit.start, last)),
          of(key),
          key,
        );
    },
  ],
  [
    "a watch of a prefix sees the keys that begin with it",
    async (kit) => {
      const { changes, last } = await story(kit);
      const of = (prefix: string): unknown[] =>
        changes.filter((change) => (change as { key: string }).key.startsWith(prefix));
      for (const prefix of ["a", "ab", "b", "c"])
        assert.deepEqual(
          seen(kit, await drain(kit.store, { prefix: kit.prefix + prefix }, kit.start, last)),
          of(prefix),
          prefix,
        );
    },
  ],
  [
    "a watch after a future revision waits for it",
    async (kit) => {
      const watched = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start + 2,
        (changes) => changes.length >= 2,
      );
      const revisions = [
        await put(kit, "a", "1"),
        await put(kit, "b", "1"),
        await put(kit, "c", "1"),
        await put(kit, "d", "1"),
      ];
      assert.deepEqual(
        (await watched).map((change) => change.revision),
        revisions.slice(2),
      );
    },
  ],
  [
    "many watchers of many ranges each see their changes of a busy store, once and in order",
    async (kit) => {
      const prefixes = Array.from({ length: 10 }, (_, i) => `p${i}/`);
      const watches = Array.from({ length: 60 }, (_, i) => {
        const range = i < 50 ? { prefix: kit.prefix + prefixes[i % 10]! } : { prefix: kit.prefix };
        return watchUntil(kit.store, range, kit.start, (changes) => changes.length >= (i < 50 ? 30 : 300));
      });
      const written = new Map<Revision, string>();
      const steps = Array.from({ length: 300 }, (_, i) => `${prefixes[i % 10]}${i % 7}`);
      await inParallel(
        16,
        steps,
        async (name) => void written.set(await put(kit, name, name), kit.prefix + name),
      );
      const late = await drain(kit.store, { prefix: kit.prefix }, kit.start, kit.start + 300);
      for (const [i, watch] of [...watches, Promise.resolve(late)].entries()) {
        const expected = [...written]
          .sort(([a], [b]) => a - b)
          .filter(([, key]) => i >= 50 || key.startsWith(kit.prefix + prefixes[i % 10]!));
        assert.deepEqual(
          (await watch).map((change) => [change.revision, change.key]),
          expected,
        );
      }
    },
  ],
  [
    "previous is always the preceding version, however fast a key changes",
    async (kit) => {
      const watched = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start,
        (changes) => changes.length >= 200,
      );
      await inParallel(
        16,
        Array.from({ length: 200 }, (_, i) => i),
        async (i) => void (await put(kit, `k${i % 3}`, String(i))),
      );
      const last = new Map<string, Change>();
      for (const change of await watched) {
        const before = last.get(change.key);
        assert.deepEqual(
          change.previous && [
            change.previous.revision,
            change.previous.created,
            Buffer.from(change.previous.value),
          ],
          before && [before.revision, before.created, Buffer.from(before.value!)],
        );
        last.set(change.key, change);
      }
    },
  ],
  [
    "a slow reader misses nothing",
    async (kit) => {
      const stop = new AbortController();
      const found: string[] = [];
      let last = kit.start;
      const reading = (async () => {
        for await (const batch of kit.store.watch({ prefix: kit.prefix }, kit.start, stop.signal)) {
          last = checkBatch(batch, last);
          found.push(...batch.changes.map((change) => change.key));
          await new Promise((resolve) => setImmediate(resolve));
          if (found.length >= 3000) break;
        }
      })();
      await inParallel(
        64,
        Array.from({ length: 3000 }, (_, i) => i),
        async (i) => void (await put(kit, `k${i}`, "x".repeat(200))),
      );
      await reading;
      assert.equal(new Set(found).size, 3000);
    },
  ],
  [
    "a watch delivers large values",
    async (kit) => {
      const big = (fill: number): Uint8Array => new Uint8Array(1_500_000).fill(fill);
      for (const fill of [1, 2, 3])
        await kit.store.write({ key: `${kit.prefix}big`, value: big(fill), expect: "any" });
      const changes = await drain(kit.store, { prefix: kit.prefix }, kit.start, kit.start + 3);
      // prettier-ignore
      assert.deepEqual(changes.map((change) => [change.value!.length, change.value![7], change.previous?.value[1_499_999]]), [[1_500_000, 1, undefined], [1_500_000, 2, 1], [1_500_000, 3, 2]]);
    },
  ],
  [
    "an aborted watch ends without error, and others continue",
    async (kit) => {
      const stop = new AbortController();
      const already = AbortSignal.abort();
      for await (const _ of kit.store.watch({ prefix: kit.prefix }, kit.start, already))
        assert.fail("an aborted watch gave a batch");
      const ends = [1, 2, 3].map(async () => {
        let batches = 0;
        for await (const batch of kit.store.watch({ prefix: kit.prefix }, kit.start, stop.signal))
          batches += batch.changes.length;
        return batches;
      });
      const other = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start,
        (changes) => changes.length >= 2,
      );
      await put(kit, "a", "1");
      await watchUntil(kit.store, { prefix: kit.prefix }, kit.start, (changes) => changes.length >= 1);
      stop.abort();
      for (const batches of await Promise.all(ends)) assert.ok(batches <= 1);
      await put(kit, "b", "1");
      assert.equal((await other).length, 2);
    },
  ],
  [
    "a watch that is up to date survives a compaction",
    async (kit) => {
      const stop = new AbortController();
      const watch = open(kit, kit.start, stop);
      const first = watch.next();
      await put(kit, "a", "1");
      assert.equal((await first).length, 1);
      const second = watch.next();
      await kit.store.compact(await put(kit, "a", "2"));
      assert.equal((await second).length, 1);
      const third = watch.next();
      // Changes outside the range do not concern the watch, nor does their compaction.
      const outside = `${kit.prefix.slice(0, -1)}-elsewhere`;
      for (const value of ["1", "2", "3"]) {
        const outcome = await kit.store.write({ key: outside, value: bytes(value), expect: "any" });
        assert.ok(outcome.done);
        await kit.store.compact(outcome.revision);
      }
      const revision = await put(kit, "a", "3");
      assert.deepEqual(
        (await third).map((change) => [
          change.revision,
          change.previous && Buffer.from(change.previous.value).toString(),
        ]),
        [[revision, "2"]],
      );
      await watch.end();
    },
  ],
  [
    "a watch that fell behind a compaction delivers every change or fails",
    async (kit) => {
      const stop = new AbortController();
      const watch = open(kit, kit.start, stop);
      const first = watch.next();
      await put(kit, "a", "0");
      const found = [...(await first)];
      const steps = 50;
      for (let i = 1; i <= steps; i++) await put(kit, "a", String(i));
      await kit.store.compact(kit.start + steps);
      let failed = false;
      try {
        while (found.length < steps + 1) found.push(...(await watch.next()));
      } catch (error) {
        assert.ok(error instanceof Compacted);
        failed = true;
      }
      assert.deepEqual(
        found.map((change) => change.revision),
        Array.from({ length: found.length }, (_, i) => kit.start + 1 + i),
      );
      assert.ok(failed || found.length === steps + 1);
      await watch.end();
    },
  ],
  [
    "a watch resumes at the compacted revision but not before it",
    async (kit) => {
      const { changes, last } = await story(kit);
      const compacted = kit.start + 4;
      await kit.store.compact(compacted);
      assert.deepEqual(
        seen(kit, await drain(kit.store, { prefix: kit.prefix }, compacted, last)),
        changes.slice(4),
      );
      const behind = async (after: Revision): Promise<void> => {
        for await (const batch of kit.store.watch({ prefix: kit.prefix }, after, AbortSignal.timeout(20_000)))
          assert.fail(`got ${batch.changes.length} changes`);
      };
      for (const after of [kit.start, compacted - 2])
        await assert.rejects(
          behind(after),
          (error) => error instanceof Compacted && error.compacted === compacted,
        );
    },
  ],
  [
    "a watch from one revision before the compacted one fails",
    async (kit) => {
      await put(kit, "a", "1");
      const deletedAt = await remove(kit, "a");
      await put(kit, "b", "1");
      await kit.store.compact(deletedAt);
      await assert.rejects(drain(kit.store, { prefix: kit.prefix }, deletedAt - 1, deletedAt + 1), Compacted);
    },
  ],
  [
    "progress notifications bring idle watches up to the store's revision",
    async (kit) => {
      await put(kit, "a", "1");
      const outside = await kit.store.write({
        key: `${kit.prefix.slice(0, -1)}-elsewhere`,
        value: bytes("1"),
        expect: "any",
      });
      assert.ok(outside.done);
      const revision = await kit.store.progress();
      assert.ok(revision >= outside.revision);
      assert.deepEqual(await drain(kit.store, { prefix: `${kit.prefix}quiet/` }, kit.start, revision), []);
      assert.deepEqual(await drain(kit.store, { key: `${kit.prefix}quiet` }, revision, revision), []);
    },
  ],
  [
    "no progress notification precedes a change it covers",
    async (kit) => {
      const stop = new AbortController();
      const through: Revision[] = [];
      const found: Revision[] = [];
      const watched = (async () => {
        let last = kit.start;
        for await (const batch of kit.store.watch({ prefix: kit.prefix }, kit.start, stop.signal)) {
          last = checkBatch(batch, last);
          through.push(batch.through);
          found.push(...batch.changes.map((change) => change.revision));
          if (found.length >= 200) break;
        }
      })();
      await inParallel(
        16,
        Array.from({ length: 200 }, (_, i) => i),
        async (i) => {
          await put(kit, `k${i}`, "x");
          const revision = await kit.store.progress();
          assert.ok(revision >= kit.start + 1);
        },
      );
      await watched;
      assert.deepEqual(
        found,
        Array.from({ length: 200 }, (_, i) => kit.start + 1 + i),
      );
    },
  ],
  [
    "closing the store ends its watches",
    async (kit) => {
      const watches = ["a", "b"].map(async (name) => {
        for await (const batch of kit.store.watch(
          { prefix: kit.prefix + name },
          kit.start,
          new AbortController().signal,
        ))
          assert.ok(batch.changes.length <= 1);
      });
      await put(kit, "a", "1");
      await watchUntil(kit.store, { prefix: kit.prefix }, kit.start, (changes) => changes.length === 1);
      await kit.store.close();
      await Promise.all(watches);
    },
  ],
];
