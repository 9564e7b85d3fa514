import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { virtualClock } from "#base";
import { StoreClosed, StoreDamaged, StoreFull, StoreLocked } from "../errors.ts";
import { Compacted, type Revision, type Store } from "../store.ts";
import { backupStore, restoreStore } from "./backup.ts";
import { openSqlite } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "store-"));
after(() => rmSync(root, { recursive: true }));
let made = 0;
const place = (): string => join(root, String(++made));

async function put(
  store: Store,
  key: string,
  value: string | Uint8Array,
  ttlSeconds?: number,
): Promise<Revision> {
  const outcome = await store.write({
    key,
    value: Buffer.from(value),
    expect: "any",
    ...(ttlSeconds && { ttlSeconds }),
  });
  assert.ok(outcome.done);
  return outcome.revision;
}
const remove = (store: Store, key: string): Promise<unknown> =>
  store.write({ key, value: null, expect: "any" });
const state = async (store: Store, at?: Revision): Promise<string> =>
  (await store.read({ prefix: "" }, at)).entries
    .map((entry) => `${entry.key}=${Buffer.from(entry.value).toString()}@${entry.revision}/${entry.created}`)
    .join(" ");

async function history(store: Store, after: Revision): Promise<string[]> {
  const { revision } = await store.status();
  const seen: string[] = [];
  for await (const batch of store.watch({ prefix: "" }, after, new AbortController().signal)) {
    for (const change of batch.changes)
      seen.push(
        `${change.revision} ${change.key}=${change.value && Buffer.from(change.value).toString()} was ${change.previous && Buffer.from(change.previous.value).toString()}`,
      );
    if (batch.through >= revision) break;
  }
  return seen;
}

test("all keys survive a restart, including those older than the last compaction", async () => {
  const dir = place();
  const keys = 12_000;
  const store = await openSqlite({ dir });
  await Promise.all(Array.from({ length: keys }, (_, at) => put(store, `k${at}`, "v")));
  await store.compact((await store.status()).revision);
  await store.close();
  const again = await openSqlite({ dir });
  assert.equal((await again.status()).keys, keys);
  await again.close();
});

test("a reopened store has the same values, revisions and history", async () => {
  const dir = place();
  let store = await openSqlite({ dir });
  await put(store, "a", "1");
  await put(store, "b", "1");
  await put(store, "a", "2");
  await remove(store, "b");
  await put(store, "b", "2");
  await put(store, "c\u0000😀", "");
  const [now, then, changes] = [await state(store), await state(store, 4), await history(store, 0)];
  assert.equal(changes.length, 6);
  await store.close();
  store = await openSqlite({ dir });
  assert.deepEqual(
    [await state(store), await state(store, 4), await history(store, 0)],
    [now, then, changes],
  );
  assert.deepEqual(await store.write({ key: "a", value: Buffer.from("x"), expect: 2 }), {
    done: false,
    current: { key: "a", value: new Uint8Array(Buffer.from("2")), revision: 4, created: 2 },
  });
  assert.equal(await put(store, "d", "1"), 8);
  await store.close();
});

test("a compacted store keeps its compaction, its revision and the keys' creation revisions after a restart", async () => {
  const dir = place();
  let store = await openSqlite({ dir });
  for (const value of ["1", "2", "3"]) for (const key of ["a", "b"]) await put(store, key, value);
  await remove(store, "b");
  const { revision } = await store.status();
  await store.compact(revision);
  await store.close();
  store = await openSqlite({ dir });
  assert.deepEqual(
    { ...(await store.status()), bytes: 0 },
    { revision, compacted: revision, keys: 1, bytes: 0 },
  );
  assert.equal(await state(store), `a=3@6/2`);
  await assert.rejects(store.read({ key: "a" }, revision - 1), Compacted);
  assert.equal(await put(store, "b", "4"), revision + 1);
  await store.close();
});

test("TTLs continue through a restart, and keys that expired meanwhile are deleted immediately", async () => {
  const dir = place();
  const clock = virtualClock(1_000_000);
  let store = await openSqlite({ dir, clock });
  await put(store, "short", "1", 10);
  await put(store, "long", "1", 100);
  await put(store, "freed", "1", 10);
  await put(store, "freed", "2");
  await put(store, "for ever", "1");
  await store.close();
  await clock.advance(50_000);
  store = await openSqlite({ dir, clock });
  const waitUntilDeleted = async (key: string): Promise<void> => {
    for await (const batch of store.watch({ key }, 1, new AbortController().signal))
      if (batch.changes.some((change) => change.value === null)) return;
  };
  await clock.advance(0);
  await waitUntilDeleted("short");
  assert.deepEqual(
    (await store.read({ prefix: "" })).entries.map((entry) => entry.key),
    ["for ever", "freed", "long"],
  );
  await clock.advance(51_000);
  await waitUntilDeleted("long");
  assert.deepEqual(
    (await store.read({ prefix: "" })).entries.map((entry) => entry.key),
    ["for ever", "freed"],
  );
  await store.close();
});

test("compaction returns space to the file system and keeps live keys", async () => {
  const dir = place();
  const store = await openSqlite({ dir });
  const value = new Uint8Array(20_000).fill(7);
  await Promise.all(Array.from({ length: 1000 }, (_, i) => put(store, `k${i % 10}`, value)));
  const before = (await store.status()).bytes;
  assert.ok(before > 20_000_000);
  await store.compact((await store.status()).revision);
  while ((await store.status()).bytes > before / 3) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    (await store.read({ prefix: "" })).entries.map((entry) => Buffer.compare(entry.value, value)),
    Array.from({ length: 10 }, () => 0),
  );
  await store.close();
  assert.ok(statSync(join(dir, "store.db")).size < before / 3);
  assert.ok(!existsSync(join(dir, "store.db-wal")), "a closed store is one file");
});

test("a compaction interrupted by a close or crash is completed when the store is reopened", async () => {
  const dir = place();
  let store = await openSqlite({ dir });
  await Promise.all(Array.from({ length: 5000 }, (_, i) => put(store, `k${i % 50}`, String(i))));
  const { revision } = await store.status();
  const compacting = store.compact(revision).then(
    () => "done",
    (error) => (error as Error).name,
  );
  // The mark is on disk; most of the rows below it have not been deleted yet.
  while ((await store.status()).compacted < revision) await new Promise((resolve) => setImmediate(resolve));
  const closed = store.close();
  assert.match(await compacting, /^(done|StoreClosed)$/);
  await closed;
  await assert.rejects(store.compact(revision), StoreClosed);
  store = await openSqlite({ dir });
  assert.equal((await store.status()).compacted, revision);
  assert.equal((await store.read({ prefix: "" })).entries.length, 50);
  // Compacting again waits for the rest.
  await store.compact(await put(store, "k0", "last"));
  await store.close();
  const db = new DatabaseSync(join(dir, "store.db"));
  assert.deepEqual(
    ["log", "value"].map((table) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!["n"])),
    [50, 50],
  );
  db.close();
});

test("a long read is consistent during writes and compactions", async () => {
  const store = await openSqlite({ dir: place(), recentBytes: 0 });
  await Promise.all(Array.from({ length: 2000 }, (_, i) => put(store, `k${i}`, "old")));
  const { revision } = await store.status();
  const reads = [store.read({ prefix: "k" }), store.read({ prefix: "k" }, revision)];
  const outcomes = Promise.allSettled(reads);
  for (let i = 0; i < 50; i++)
    await Promise.all(Array.from({ length: 40 }, (_, j) => put(store, `k${i * 40 + j}`, "new")));
  const [now, then] = await outcomes;
  for (const outcome of [now!, then!]) {
    assert.equal(outcome.status, "fulfilled");
    if (outcome.status === "fulfilled")
      assert.ok(
        outcome.value.entries.length === 2000 &&
          outcome.value.entries.every((entry) => entry.revision <= outcome.value.revision),
      );
  }
  const again = store.read({ prefix: "k" }, revision).then(
    (page) => assert.ok(page.entries.every((entry) => Buffer.from(entry.value).toString() === "old")),
    (error) => assert.ok(error instanceof Compacted),
  );
  await store.compact((await store.status()).revision);
  await again;
  await store.close();
});

test("a second opener in the same process gets an error naming the holder", async () => {
  const dir = place();
  const store = await openSqlite({ dir });
  await assert.rejects(
    openSqlite({ dir }),
    (error) =>
      error instanceof StoreLocked && error.pid === process.pid && error.message.includes("this process"),
  );
  await put(store, "a", "still works");
  await store.close();
  await (await openSqlite({ dir })).close();
});

test("a store at its size limit refuses writes, keeps reading, and recovers when space is freed", async () => {
  const store = await openSqlite({ dir: place(), maxBytes: 2 << 20, recentBytes: 0 });
  const value = new Uint8Array(100_000).fill(1);
  let done = 0;
  await assert.rejects(
    async () => {
      for (;;) {
        await put(store, `k${done}`, value);
        done++;
      }
    },
    (error) => error instanceof StoreFull && /no space left.*the write was not done/.test(error.message),
  );
  const { revision, keys } = await store.status();
  assert.deepEqual([revision, keys], [done + 1, done]);
  assert.equal((await store.read({ prefix: "k" })).entries.length, done);
  await assert.rejects(put(store, "more", value), StoreFull);
  for (let i = 0; i < done; i++) await remove(store, `k${i}`);
  await store.compact((await store.status()).revision);
  const again = await put(store, "more", value);
  assert.equal(again, done * 2 + 2, "refused writes create no revision");
  await store.close();
});

test("files are readable by their owner only", async () => {
  const dir = place();
  const store = await openSqlite({ dir });
  await put(store, "a", "1");
  for (const name of readdirSync(dir)) assert.equal(statSync(join(dir, name)).mode & 0o077, 0, name);
  await store.close();
});

test("opening a store after a crash writes nothing to it, as the disk may be full", async () => {
  const [dir, crashed] = [place(), place()];
  const store = await openSqlite({ dir });
  await put(store, "a", "1");
  cpSync(dir, crashed, { recursive: true });
  await store.close();
  const files = ["store.db", "store.db-wal"].map((name) => join(crashed, name));
  const before = files.map((file) => readFileSync(file));
  const again = await openSqlite({ dir: crashed });
  assert.deepEqual(
    files.map((file) => readFileSync(file)),
    before,
  );
  assert.equal(await state(again), "a=1@2/2");
  await again.close();
});

let full: Promise<string> | undefined;
async function fill(): Promise<string> {
  const dir = place();
  const store = await openSqlite({ dir });
  await Promise.all(Array.from({ length: 300 }, (_, i) => put(store, `key-${i}`, `value-${i}-`.repeat(40))));
  await store.close();
  return dir;
}
/** Returns a copy of a closed store of 300 keys. */
async function filled(): Promise<string> {
  const dir = place();
  cpSync(await (full ??= fill()), dir, { recursive: true });
  return dir;
}
/** Overwrites the first occurrence of `text` in the file. */
function scratch(file: string, text: string, by: string): void {
  const at = readFileSync(file).indexOf(text);
  assert.ok(at > 0);
  const handle = openSync(file, "r+");
  writeSync(handle, by, at);
  closeSync(handle);
}
const damages: [name: string, damage: (file: string) => void][] = [
  ["a file of another format", (file) => writeFileSync(file, "this is no store\n".repeat(1000))],
  ["another program's database", (file) => { rmSync(file); const db = new DatabaseSync(file); db.exec("CREATE TABLE t (a)"); db.close(); }],
  ["a truncated file", (file) => truncateSync(file, statSync(file).size / 2)],
  ["an altered key", (file) => scratch(file, "key-77", "kez-77")],
  ["an altered value", (file) => scratch(file, "value-123-value-123-", "value-123-valve-123-")],
  ["a missing change", (file) => { const db = new DatabaseSync(file); db.exec("DELETE FROM log WHERE revision = 50"); db.close(); }],
  ["a missing value", (file) => { const db = new DatabaseSync(file); db.exec("DELETE FROM value WHERE revision = 50"); db.close(); }],
  ["zeroed pages", (file) => { const size = statSync(file).size; const handle = openSync(file, "r+"); writeSync(handle, Buffer.alloc(size - 16_384), 0, size - 16_384, 16_384); closeSync(handle); }],
]; // prettier-ignore
for (const [name, damage] of damages) {
  test(`${name} is reported, not served`, async () => {
    const dir = await filled();
    const file = join(dir, "store.db");
    damage(file);
    await assert.rejects(
      async () => {
        const store = await openSqlite({ dir });
        try {
          await store.read({ prefix: "" });
        } finally {
          await store.close();
        }
      },
      (error) => error instanceof StoreDamaged && error.message.includes(file),
    );
    await assert.rejects(
      openSqlite({ dir }).then((store) =>
        store.close().then(() => Promise.reject(new StoreDamaged(file, "opened"))),
      ),
      StoreDamaged,
      "the lock was let go",
    );
  });
}

test("a backup of a store in use is consistent and can be restored", async () => {
  const dir = place();
  const store = await openSqlite({ dir });
  await Promise.all(
    Array.from({ length: 500 }, (_, i) => put(store, `k${String(i).padStart(3, "0")}`, "x".repeat(500))),
  );
  const file = join(root, "backup.db");
  let writing = true;
  const writer = (async () => {
    for (let i = 0; writing; i++) await put(store, `later${i}`, "y");
    return (await store.status()).revision;
  })();
  await backupStore(dir, file);
  writing = false;
  const last = await writer;
  await store.close();
  const copyDir = place();
  await restoreStore(file, copyDir);
  const copy = await openSqlite({ dir: copyDir });
  const { revision } = await copy.status();
  assert.ok(revision >= 501 && revision <= last);
  const { entries } = await copy.read({ prefix: "" });
  assert.equal(entries.filter((entry) => entry.key.startsWith("k")).length, 500);
  assert.equal(entries.length, revision - 1);
  assert.equal(await put(copy, "new", "1"), revision + 1);
  await copy.close();
});

test("backup and restore refuse to overwrite, and refuse files that are not stores", async () => {
  const dir = await filled();
  const file = join(root, "backup2.db");
  await backupStore(dir, file);
  await assert.rejects(backupStore(dir, file), /already there/);
  await assert.rejects(backupStore(dir, join(file, "below")), /below cannot be written: /);
  await assert.rejects(backupStore(place(), join(root, "none.db")), /there is no store in/);
  await assert.rejects(restoreStore(file, dir), /is not empty/);
  await assert.rejects(restoreStore(join(root, "none.db"), place()), /there is no backup/);
  const other = join(root, "other.txt");
  writeFileSync(other, "hello ".repeat(5000));
  const notBackup = { message: `${other} is not a backup: file is not a database` };
  await assert.rejects(restoreStore(other, place()), notBackup);
  const nothing = join(root, "nothing.db");
  writeFileSync(nothing, "");
  await assert.rejects(restoreStore(nothing, place()), {
    message: `${nothing} is not a backup: it is not a store`,
  });
  const message = `${dir} is a directory; a store is restored from the file that a backup has written`;
  await assert.rejects(restoreStore(dir, place()), { message });
  const device = { message: "/dev/null is not a backup: it is not a regular file" };
  await assert.rejects(restoreStore("/dev/null", place()), device);
  const target = place();
  const full = readFileSync(file);
  const torn = join(root, "torn.db");
  writeFileSync(torn, full.fill(0xff, 4096, 8192));
  await assert.rejects(restoreStore(torn, target), StoreDamaged);
  assert.equal(existsSync(target), false);
  const empty = place();
  mkdirSync(empty);
  await restoreStore(file, empty);
  const store = await openSqlite({ dir: empty });
  assert.equal((await store.status()).keys, 300);
  await store.close();
});

for (const [name, damage] of damages)
  test(`restore refuses a backup with ${name}, and creates no store`, async () => {
    const file = join(root, `damaged-${++made}.db`);
    const target = place();
    await backupStore(await filled(), file);
    damage(file);
    await assert.rejects(restoreStore(file, target), (error) => (error as Error).message.includes(file));
    assert.equal(existsSync(target), false);
  });

for (const [name, damage] of damages.filter(([each]) => /altered|missing/.test(each)))
  test(`a backup of a store with ${name} is refused and leaves no file`, async () => {
    const dir = await filled();
    damage(join(dir, "store.db"));
    const file = join(root, `refused-${++made}.db`);
    await assert.rejects(
      backupStore(dir, file),
      (error) => error instanceof StoreDamaged && error.message.includes(join(dir, "store.db")),
    );
    assert.ok(!existsSync(file) && !existsSync(`${file}.partial`));
  });

const unfit: [name: string, damage: string, why: RegExp][] = [
  ["of an unknown format", "PRAGMA user_version = 99", /has format 99/],
  ["of another program", "PRAGMA application_id = 99", /it is not a store/],
];
for (const [name, damage, why] of unfit) {
  test(`a backup of a store ${name} is refused and leaves no file`, async () => {
    const dir = await filled();
    const db = new DatabaseSync(join(dir, "store.db"));
    db.exec(damage);
    db.close();
    const file = join(root, `unfit-${made}.db`);
    await assert.rejects(backupStore(dir, file), why);
    assert.deepEqual(
      readdirSync(root).filter((each) => each.startsWith("unfit-")),
      [],
    );
  });
}

test("closing several stores settles pending writes and leaves no resources open", async () => {
  const before = process
    .getActiveResourcesInfo()
    .filter((name) => name === "MessagePort" || name === "Worker").length;
  const dirs = [place(), place(), place()];
  const stores = await Promise.all(dirs.map((dir) => openSqlite({ dir })));
  const writes = stores.flatMap((store) => Array.from({ length: 50 }, (_, i) => put(store, `k${i}`, "x")));
  const closing = Promise.all(stores.map((store) => store.close()));
  await Promise.all(writes);
  await closing;
  assert.equal(
    process.getActiveResourcesInfo().filter((name) => name === "MessagePort" || name === "Worker").length,
    before,
  );
  for (const dir of dirs) {
    const store = await openSqlite({ dir });
    assert.equal((await store.status()).keys, 50);
    await store.close();
  }
});
