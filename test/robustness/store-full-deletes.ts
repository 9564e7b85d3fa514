// Fills a disk with a store, deletes every key, compacts, and writes again. Argument: the disk's directory.

import assert from "node:assert/strict";
import { join } from "node:path";
import { StoreFull, openSqlite } from "#store";

const store = await openSqlite({ dir: join(process.argv[2]!, "store"), recentBytes: 0 });
const keys: string[] = [];
for (const bytes of [40_000, 500])
  for (let refused = 0; refused < 5;) {
    const key = `k${keys.length}`;
    try {
      await store.write({ key, value: Buffer.alloc(bytes, "v"), expect: "absent" });
      keys.push(key);
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error;
      refused++;
    }
  }
for (const key of keys) assert.ok((await store.write({ key, value: null, expect: "any" })).done);
await store.compact((await store.status()).revision);
for (let at = 0; at < 100; at++)
  assert.ok(
    (await store.write({ key: `new${at}`, value: Buffer.alloc(10_000, "v"), expect: "absent" })).done,
  );
await store.close();
