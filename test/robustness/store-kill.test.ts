// SIGKILL under load, repeatedly: every acknowledged write is present, none is torn, and history has no gaps.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { backupStore, openSqlite, restoreStore, type Revision, type Store, StoreLocked } from "#store";

const kills = Number(process.env["STORE_KILLS"] ?? 100);
/** A slow machine does as many kills as it can in this time; a requested number is always completed. */
const killMilliseconds = process.env["STORE_KILLS"] ? Infinity : 100_000;
const root = mkdtempSync(join(tmpdir(), "store-kill-"));
after(() => rmSync(root, { recursive: true }));

interface Acknowledged {
  readonly step: number;
  readonly revision: Revision;
}

/** Starts a writer; `hear` waits until it has printed a word. */
async function start(
  dir: string,
  round: number,
  enough: number,
): Promise<{ child: ChildProcess; hear: (word: string) => Promise<void> }> {
  const script = join(import.meta.dirname, "store-writer.ts");
  const child = spawn(
    process.execPath,
    ["--conditions=orch-source", script, dir, String(round), `${dir}.acknowledged`, String(enough)],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let text = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (complaint += chunk));
  const ended = once(child, "close").then(() => `the writer ended: ${complaint}`);
  const hear = async (word: string): Promise<void> => {
    while (!text.includes(`${word}\n`)) {
      const why = await Promise.race([once(child.stdout, "data").then(() => undefined), ended]);
      if (why !== undefined) assert.fail(why);
    }
  };
  await hear("open");
  return { child, hear };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

/** The writes acknowledged to the writer; a truncated last line does not count. */
const acknowledgements = (dir: string): (Acknowledged & { key: string })[] =>
  readFileSync(`${dir}.acknowledged`, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [key, step, revision] = line.split(" ") as [string, string, string];
      return { key, step: Number(step), revision: Number(revision) };
    });

/** Returns the step that wrote a value; throws if the value is torn. */
function stepOf(key: string, value: Uint8Array): number {
  const text = Buffer.from(value).toString();
  const [sum, name, step] = text.split(" ", 3) as [string, string, string];
  assert.equal(name, key);
  assert.equal(crc32(text.slice(sum.length + 1)), Number(sum), `${key} is torn`);
  return Number(step);
}

/** Returns the current step of a key: the one acknowledged last or, possibly, the one that was in flight. */
async function checkKey(store: Store, key: string, { step, revision }: Acknowledged): Promise<void> {
  const [entry] = (await store.read({ key })).entries;
  if (!entry)
    assert.ok(step % 7 === 0 || (step + 1) % 7 === 0, `${key} is gone, step ${step} was acknowledged`);
  else {
    const found = stepOf(key, entry.value);
    assert.ok(
      found === step || found === step + 1,
      `${key} is at step ${found}, step ${step} was acknowledged`,
    );
    assert.equal(
      entry.revision >= revision,
      true,
      `${key} went back from revision ${revision} to ${entry.revision}`,
    );
    if (found === step) assert.equal(entry.revision, revision);
  }
}

async function checkHistory(store: Store): Promise<void> {
  const { revision, compacted } = await store.status();
  let last = compacted;
  for await (const { changes, through } of store.watch(
    { prefix: "" },
    compacted,
    new AbortController().signal,
  )) {
    for (const change of changes) {
      assert.equal(change.revision, Math.max(last, 1) + 1, "history has a gap");
      last = change.revision;
      if (change.value) stepOf(change.key, change.value);
      if (change.previous) stepOf(change.key, change.previous.value);
    }
    if (through >= revision) break;
  }
}

/** Kills one store's writer repeatedly; returns the number of kills and of acknowledged writes. */
async function lane(
  dir: string,
  rounds: number,
  spread: number,
): Promise<{ readonly killed: number; readonly written: number }> {
  const end = performance.now() + killMilliseconds;
  const known = new Map<string, Acknowledged>();
  let newest = 0;
  let total = 0;
  let round = 0;
  for (let isLast = false; !isLast; round++) {
    isLast = round === rounds - 1 || performance.now() > end;
    // The kill follows a number of acknowledgements rather than a time: at another point of the load in each
    // round.
    const { child, hear } = await start(dir, round, 1 + ((round * spread) % 1000));
    await hear("enough");
    await kill(child);
    const lines = acknowledgements(dir);
    total += lines.length;
    const revisions = new Set(lines.map((line) => line.revision));
    assert.equal(revisions.size, lines.length, "two writes received one revision");
    for (const { key, step, revision } of lines) {
      assert.ok(revision > newest, `revision ${revision} was assigned before`);
      assert.ok(
        revision > (known.get(key)?.revision ?? 0),
        `${key} went from ${known.get(key)?.revision} to ${revision}`,
      );
      known.set(key, { step, revision });
    }
    const store = await openSqlite({ dir });
    try {
      for (const [key, acknowledged] of known)
        if (key.startsWith(`r${round}/`) || isLast) await checkKey(store, key, acknowledged);
      await checkHistory(store);
      const status = await store.status();
      assert.ok(status.revision >= Math.max(...revisions));
      newest = status.revision;
    } finally {
      await store.close();
    }
  }
  return { killed: round, written: total };
}

test("stores that are killed repeatedly lose no acknowledged write", async (t) => {
  const [one, two] = await Promise.all([
    lane(join(root, "one"), Math.ceil(kills / 2), 7919),
    lane(join(root, "two"), Math.floor(kills / 2), 6007),
  ]);
  t.diagnostic(`${one.written + two.written} acknowledged writes survived ${one.killed + two.killed} kills`);
});

test("opening a store in use reports the process that holds it, and a killed holder keeps no lock", async () => {
  const dir = join(root, "locked");
  const { child } = await start(dir, 0, 1);
  await assert.rejects(
    openSqlite({ dir }),
    (error) =>
      error instanceof StoreLocked &&
      error.pid === child.pid &&
      error.message.includes(`process ${child.pid}`),
  );
  await kill(child);
  const store = await openSqlite({ dir });
  assert.ok((await store.status()).revision >= 1);
  // The first opener's lock must outlive a second one's failure, in this process and against others.
  await assert.rejects(openSqlite({ dir }), StoreLocked);
  await assert.rejects(start(dir, 1, 1), new RegExp(`StoreLocked.*in use by process ${process.pid}`));
  await store.close();
});

test("a backup of a store that another process writes to is a single state", async () => {
  const dir = join(root, "copied");
  const { child, hear } = await start(dir, 0, 300);
  await hear("enough");
  const file = join(root, "backup.db");
  const before = Math.max(...acknowledgements(dir).map((line) => line.revision));
  await backupStore(dir, file);
  await kill(child);
  const copyDir = join(root, "copy");
  await restoreStore(file, copyDir);
  const copy = await openSqlite({ dir: copyDir });
  const { revision } = await copy.status();
  assert.ok(revision >= before, `acknowledged at ${before}, the backup is of ${revision}`);
  await checkHistory(copy);
  await copy.close();
});
