// Fills a small disk with a store, opens it again, frees some space, continues to write, and prints the results.
// Argument: the disk's directory.

import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite, StoreFull } from "#store";

const disk = process.argv[2]!;
const spare = join(disk, "spare");
writeFileSync(spare, Buffer.alloc(2 << 20, 1));
const dir = join(disk, "store");
const stopped = join(disk, "stopped");
await (await openSqlite({ dir: stopped })).close();
let store = await openSqlite({ dir, recentBytes: 0 });
const value = Buffer.alloc(50_000, "v");
const acknowledged: string[] = [];
const refused: string[] = [];

const write = async (key: string): Promise<void> => {
  try {
    await store.write({ key, value, expect: "absent" });
    acknowledged.push(key);
  } catch (error) {
    if (!(error instanceof StoreFull)) throw error;
    refused.push(error.message);
  }
};
let n = 0;
// Concurrent writes, so that whole batches are refused.
while (refused.length < 20) await Promise.all(Array.from({ length: 4 }, () => write(`k${n++}`)));
const whenFull = (await store.read({ prefix: "" })).entries.filter(
  (entry) => Buffer.compare(entry.value, value) === 0,
).length;
const acknowledgedWhenFull = acknowledged.length;
await store.close();
try {
  for (;;) appendFileSync(spare, Buffer.alloc(4096, 1));
} catch {
  // Nothing is left.
}
const refusedStart = await openSqlite({ dir: stopped }).then(
  () => "opened",
  (error: Error) => error.name,
);
rmSync(spare);
store = await openSqlite({ dir, recentBytes: 0 });
for (let i = 0; i < 5; i++) await write(`again${i}`);
const status = await store.status();
await store.close();
store = await openSqlite({ dir });
const { entries } = await store.read({ prefix: "" });
const keys = entries.map((entry) => entry.key);
console.log(
  JSON.stringify({
    acknowledgedWhenFull,
    readableWhenFull: whenFull,
    refusal: refused[0],
    refusedStart,
    doneAfterwards: acknowledged.length - acknowledgedWhenFull,
    revisions: status.revision - 1 - acknowledged.length,
    lost: acknowledged.filter((key) => !keys.includes(key)).length,
    unasked: keys.filter((key) => !acknowledged.includes(key)).length,
  }),
);
await store.close();
