// Synchronous reads return the same as asynchronous ones.

import assert from "node:assert/strict";
import { type Case, bytes, put, remove, text } from "./harness.contract.ts";

export const localCases: readonly Case[] = [
  [
    "synchronous reads return the keys and values of one revision",
    async (kit) => {
      const local = kit.store.local?.(kit.prefix);
      if (!local) return;
      const first = await put(kit, "a", "1");
      const second = await put(kit, "b", "2");
      const third = await put(kit, "a", "3");
      const deleted = await remove(kit, "b");
      const shown = (at: number): string[] => {
        const { keys, revisions } = local.versions(kit.prefix, at);
        return keys.map(
          (key, i) => `${key.slice(kit.prefix.length)}=${text(local.value(revisions[i]!) ?? null)}`,
        );
      };
      assert.deepEqual(shown(first), ["a=1"]);
      assert.deepEqual(shown(second), ["a=1", "b=2"]);
      assert.deepEqual(shown(third), ["a=3", "b=2"]);
      assert.deepEqual(shown(deleted), ["a=3"]);
      assert.deepEqual(
        [...local.values([first, deleted, third])].map(([revision, value]) => [revision, text(value)]),
        [
          [first, "1"],
          [third, "3"],
        ],
      );
      await kit.store.compact(deleted);
      assert.equal(text(local.value(third) ?? null), "3");
    },
  ],
  [
    "values of any size and content are read together",
    async (kit) => {
      const local = kit.store.local?.(kit.prefix);
      if (!local) return;
      const values = [
        Buffer.alloc(0),
        Buffer.from([0, 44, 0, 255]),
        Buffer.alloc(20_000, 7),
        Buffer.from("ä"),
      ];
      const revisions: number[] = [];
      for (const [at, value] of values.entries()) {
        const outcome = await kit.store.write({ key: `${kit.prefix}k${at}`, value, expect: "absent" });
        assert.ok(outcome.done);
        revisions.push(outcome.revision);
      }
      const read = local.values(revisions);
      assert.deepEqual(
        revisions.map((revision) => Buffer.from(read.get(revision)!)),
        values,
      );
      assert.equal(local.values([]).size, 0);
    },
  ],
  [
    "derived data is kept in pieces, replaced and removed",
    async (kit) => {
      const derived = kit.store.local?.(kit.prefix)?.derived;
      if (!derived) return;
      const { revision } = await kit.store.status();
      const name = `derived ${kit.prefix}`;
      await Promise.all([3, 1, 2].map((piece) => derived.write(name, piece, bytes(`piece ${piece}`))));
      await derived.write(name, 2, bytes("other"));
      await derived.write(name, 3, null);
      assert.deepEqual(
        derived.read(name).map(({ piece, bytes: made }) => [piece, text(made)]),
        [
          [1, "piece 1"],
          [2, "other"],
        ],
      );
      assert.deepEqual(derived.read(`${name} of others`), []);
      assert.equal((await kit.store.status()).revision, revision, "derived data has no revisions");
    },
  ],
];
