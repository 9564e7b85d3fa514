// Key expiry: an expiry is a deletion like any other, and every write resets it.

import assert from "node:assert/strict";
import { type Case, bytes, list, put, remove, shownChange, watchUntil } from "./harness.contract.ts";

// The fence expires after every key under test: once its deletion is seen, the others would have expired.
const fence = "~fence";

export const expiryCases: readonly Case[] = [
  [
    "an expired key is deleted, and watchers see the deletion",
    async (kit) => {
      const created = await put(kit, "key", "x", { ttlSeconds: 1 });
      assert.deepEqual(await list(kit), ["key=x"]);
      const watched = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start,
        (changes) => changes.length >= 2,
      );
      await kit.elapse(2);
      const [, deletion] = await watched;
      assert.deepEqual(shownChange(kit, deletion!), {
        key: "key",
        value: null,
        revision: created + 1,
        created,
        previous: { key: "key", value: "x", revision: created, created },
      });
      assert.deepEqual(await list(kit), []);
      assert.deepEqual(await list(kit, created), ["key=x"], "old revisions are kept");
    },
  ],
  [
    "an update renews or removes the expiry; a refused update does neither",
    async (kit) => {
      for (const name of ["renewed", "freed", "refused", "left", "recreated"])
        await put(kit, name, "1", { ttlSeconds: 1 });
      await put(kit, fence, "", { ttlSeconds: 4 });
      await put(kit, "renewed", "2", { ttlSeconds: 1000 });
      await put(kit, "freed", "2");
      const refused = await kit.store.write({
        key: `${kit.prefix}refused`,
        value: bytes("2"),
        expect: "absent",
        ttlSeconds: 1000,
      });
      assert.equal(refused.done, false);
      await remove(kit, "recreated");
      await put(kit, "recreated", "2");
      const deletion = watchUntil(kit.store, { prefix: kit.prefix }, kit.start, (changes) =>
        changes.some((change) => change.value === null && change.key.endsWith(fence)),
      );
      await kit.elapse(5);
      const expired = (await deletion).slice(10).filter((change) => change.value === null);
      assert.deepEqual(expired.map((change) => change.key.slice(kit.prefix.length)).sort(), [
        "left",
        "refused",
        fence,
      ]);
      assert.deepEqual(await list(kit), ["freed=2", "recreated=2", "renewed=2"]);
    },
  ],
  [
    "each of many keys expires exactly once",
    async (kit) => {
      await Promise.all(
        Array.from({ length: 600 }, (_, i) => put(kit, `k${i}`, "x", { ttlSeconds: 1 + (i % 2) })),
      );
      const deletion = watchUntil(
        kit.store,
        { prefix: kit.prefix },
        kit.start,
        (changes) => changes.length >= 1200,
      );
      await kit.elapse(4);
      const deleted = (await deletion).filter((change) => change.value === null).map((change) => change.key);
      assert.equal(new Set(deleted).size, 600);
      assert.equal(deleted.length, 600);
      assert.deepEqual(await list(kit), []);
    },
  ],
];
