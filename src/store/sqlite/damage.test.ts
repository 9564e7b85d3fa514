// Damage that reads do not detect by themselves: a write-ahead log that ends early, and pages that hold no
// rows.

import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { StoreDamaged } from "../errors.ts";
import type { Store } from "../store.ts";
import { acknowledgedFile, readAcknowledged } from "./acknowledged.ts";
import { openSqlite } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "damage-"));
after(() => rmSync(root, { recursive: true }));
let made = 0;
const place = (): string => join(root, String(++made));

const put = (store: Store, key: string, bytes = 3000): Promise<unknown> =>
  store.write({ key, value: Buffer.alloc(bytes, 97), expect: "any" });

/** Returns a store as a killed process leaves it, with its last 40 writes in the write-ahead log only. */
async function killed(): Promise<string> {
  const copy = place();
  cpSync(await (left ??= leave()), copy, { recursive: true });
  return copy;
}

let left: Promise<string> | undefined;

async function leave(): Promise<string> {
  const [dir, copy] = [place(), place()];
  const store = await openSqlite({ dir });
  for (let i = 0; i < 40; i++) await put(store, `k${i}`);
  cpSync(dir, copy, { recursive: true });
  await store.close();
  return copy;
}

const overwrite = (file: string, at: number, bytes: Uint8Array): void => {
  const handle = openSync(file, "r+");
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
};

test("a store that was killed opens with everything it acknowledged", async () => {
  const store = await openSqlite({ dir: await killed() });
  assert.equal((await store.read({ prefix: "" })).entries.length, 40);
  await store.close();
});

test("the error about a damaged lock file names it and the remedy", async () => {
  const dir = await killed();
  writeFileSync(join(dir, "lock.db"), Buffer.alloc(4096, 1));
  await assert.rejects(openSqlite({ dir }), {
    message: `${join(dir, "lock.db")} cannot be locked: file is not a database; it holds no data: remove it while no server uses it`,
  });
});

test("a damaged write-ahead log is refused, not served without the writes after the damage", async () => {
  const dir = await killed();
  const log = join(dir, "store.db-wal");
  overwrite(log, Math.floor(statSync(log).size * 0.7), Buffer.from("####"));
  await assert.rejects(
    openSqlite({ dir }),
    (error) =>
      error instanceof StoreDamaged &&
      /writes up to revision 41 were acknowledged, but it ends at revision \d+/.test(error.message) &&
      error.message.includes(acknowledgedFile(dir)),
  );
  rmSync(acknowledgedFile(dir));
  const store = await openSqlite({ dir });
  assert.ok((await store.read({ prefix: "" })).entries.length < 40, "without the record the loss is not detected");
  await put(store, "more");
  assert.equal(readAcknowledged(acknowledgedFile(dir)), (await store.status()).revision);
  await store.close();
}); // prettier-ignore

test("a removed write-ahead log is detected", async () => {
  const dir = await killed();
  rmSync(join(dir, "store.db-wal"));
  rmSync(join(dir, "store.db-shm"), { force: true });
  await assert.rejects(openSqlite({ dir }), StoreDamaged);
});

for (const [name, text] of [
  ["an empty record", ""],
  ["a malformed record", "what\n"],
  ["a record with a wrong checksum", "0000000000000999 00000000\n"],
] as const) {
  test(`${name} does not prevent opening, and the next write repairs it`, async () => {
    const dir = place();
    let store = await openSqlite({ dir });
    await put(store, "a");
    await store.close();
    writeFileSync(acknowledgedFile(dir), text);
    store = await openSqlite({ dir });
    await put(store, "b");
    await store.close();
    assert.equal(readAcknowledged(acknowledgedFile(dir)), 3);
  });
}

/** Returns a store with a zeroed free page that holds no rows. */
async function withZeroedFreePage(): Promise<string> {
  const dir = place();
  const store = await openSqlite({ dir });
  for (let i = 0; i < 60; i++) await put(store, "same", 20_000);
  await store.compact((await store.status()).revision);
  await store.close();
  const db = new DatabaseSync(join(dir, "store.db"));
  const free = Number(db.prepare("PRAGMA freelist_count").get()!["freelist_count"]);
  db.close();
  assert.ok(free > 0, "there are free pages");
  // The header contains the number of the first page of the freelist.
  const trunk = readFileSync(join(dir, "store.db")).readUInt32BE(32);
  overwrite(join(dir, "store.db"), (trunk - 1) * 8192, Buffer.alloc(8192));
  return dir;
}

test("a zeroed page without rows prevents a store from opening", async () =>
  assert.rejects(openSqlite({ dir: await withZeroedFreePage() }), StoreDamaged));

test("a large database is checked while in use; damage stops writes and readiness", async () => {
  const dir = await withZeroedFreePage();
  const damageReported = Promise.withResolvers<StoreDamaged>();
  const store = await openSqlite({
    dir,
    maxBytesCheckedAtOpen: 0,
    checkAfterMilliseconds: 0,
    damaged: damageReported.resolve,
  });
  assert.equal((await store.read({ prefix: "" })).entries.length, 1);
  const damage = await damageReported.promise;
  await assert.rejects(put(store, "more"), damage);
  await assert.rejects(store.progress(), damage);
  assert.equal((await store.read({ prefix: "" })).entries.length, 1);
  await store.close();
});

test("a large database without damage keeps working", async () => {
  const dir = place();
  let store = await openSqlite({ dir, maxBytesCheckedAtOpen: 0, checkAfterMilliseconds: 0 });
  await put(store, "a");
  await store.close();
  store = await openSqlite({ dir, maxBytesCheckedAtOpen: 0, checkAfterMilliseconds: 0 });
  await put(store, "b");
  await store.close();
});

test("an altered log of a large database, loaded unchecked, is detected while in use", async () => {
  const dir = place();
  let store = await openSqlite({ dir });
  for (const key of ["key-1", "key-2"]) await put(store, key);
  await store.close();
  const db = new DatabaseSync(join(dir, "store.db"));
  db.exec("UPDATE log SET key = 'kez-2' WHERE key = 'key-2'");
  db.close();
  const damageReported = Promise.withResolvers<StoreDamaged>();
  const large = { maxBytesCheckedAtOpen: 0, checkAfterMilliseconds: 0 };
  store = await openSqlite({ dir, ...large, damaged: damageReported.resolve });
  assert.match((await damageReported.promise).message, /the log is not what was written at revision 3/);
  await assert.rejects(put(store, "more"), StoreDamaged);
  await store.close();
});

test("derived data survives a restart without damaged pieces", async () => {
  const dir = place();
  let store = await openSqlite({ dir });
  for (const piece of [1, 2])
    await store.local!("")!.derived.write("d", piece, Buffer.from(`piece ${piece}`));
  await store.close();
  const db = new DatabaseSync(join(dir, "store.db"));
  db.exec("UPDATE derived SET bytes = x'00' WHERE piece = 1");
  db.close();
  store = await openSqlite({ dir });
  assert.deepEqual(
    store.local!("")!
      .derived.read("d")
      .map(({ piece, bytes }) => [piece, Buffer.from(bytes).toString()]),
    [[2, "piece 2"]],
  );
  await store.close();
});
