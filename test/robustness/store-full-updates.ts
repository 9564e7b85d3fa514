// Updates a few keys of a store on a disk that is full. Argument: the disk's directory. The file of the store has
// room for the updates, since compaction frees as much as they take.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "#store";

const disk = process.argv[2]!;
const store = await openSqlite({ dir: join(disk, "store"), recentBytes: 0 });
const value = Buffer.alloc(10_000, "v");
const keys = Array.from({ length: 200 }, (_, at) => `k${at}`);

/** Writes 2 MB. */
async function update(): Promise<void> {
  for (let at = 0; at < keys.length; at += 4)
    await Promise.all(keys.slice(at, at + 4).map((key) => store.write({ key, value, expect: "any" })));
  await store.compact((await store.status()).revision);
}

for (let round = 0; round < 30; round++) await update();
try {
  for (;;) appendFileSync(join(disk, "other"), Buffer.alloc(4096, 1));
} catch {
  // Nothing is left.
}
for (let round = 0; round < 30; round++) await update();
await store.close();
