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
let store = await openSqlite({ dir: stopped });
for (const key of ["a", "b"]) await store.write({ key, value: Buffer.of(1), expect: "absent" });
await store.close();
store = await openSqlite({ dir, recentBytes: 0 });
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
function takeAll(): void {
  try {
    for (;;) appendFileSync(spare, Buffer.alloc(4096, 1));
  } catch {
    // Nothing is left.
  }
}
let n = 0;
// Concurrent writes, so that whole batches are refused.
while (refused.length < 20) await Promise.all(Array.from({ length: 4 }, () => write(`k${n++}`)));
const whenFull = (await store.read({ prefix: "" })).entries.filter(
  (entry) => Buffer.compare(entry.value, value) === 0,
).length;
const acknowledgedWhenFull = acknowledged.length;
await store.close();
takeAll();
// Another program has taken all space, also what closing the store frees.
const onFullDisk: string[] = [];
for (const key of ["a", "b"]) {
  const full = await openSqlite({ dir: stopped });
  const { entries } = await full.read({ prefix: "" });
  const attempts = await Promise.allSettled([
    full.write({ key: "large", value, expect: "absent" }),
    full.write({ key, value: null, expect: "any" }),
  ]);
  onFullDisk.push(`${entries.length} ${attempts.map(({ status }) => status).join(" ")}`);
  await full.close();
  takeAll();
}
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
    onFullDisk,
    doneAfterwards: acknowledged.length - acknowledgedWhenFull,
    revisions: status.revision - 1 - acknowledged.length,
    lost: acknowledged.filter((key) => !keys.includes(key)).length,
    unasked: keys.filter((key) => !acknowledged.includes(key)).length,
  }),
);
await store.close();
