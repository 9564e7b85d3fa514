import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "#base";
import { type LockFile, lockFile } from "./lock-file.ts";

test("a lock is held until released, and a waiting process is detected", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-lock-"));
  const stop = new AbortController();
  let second: Promise<LockFile> | undefined;
  let passed = false;
  const path = join(folder, "lock");
  const clock: Clock = {
    ...systemClock,
    // The holder sleeps after it has seen no waiter; the second process starts only then.
    sleep: async (_milliseconds, signal) => {
      second ??= lockFile(path, systemClock).finally(() => (passed = true));
      await systemClock.sleep(1, signal);
    },
  };
  try {
    const first = await lockFile(path, clock);
    assert.equal(await first.contended(stop.signal), true);
    assert.ok(second, "no process waited before the second started");
    assert.equal(passed, false, "the second waits");
    first.release();
    (await second).release();
    assert.equal(passed, true);
  } finally {
    stop.abort();
    rmSync(folder, { recursive: true });
  }
});

test("contention ends with false when the agent stops", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-lock-"));
  const lock = await lockFile(join(folder, "lock"), systemClock);
  const stop = new AbortController();
  const contended = lock.contended(stop.signal);
  stop.abort();
  assert.equal(await contended, false);
  lock.release();
  rmSync(folder, { recursive: true });
});

test("a file that cannot be locked is reported", async () => {
  await assert.rejects(lockFile("/no/such/folder/lock", systemClock), /cannot be locked/);
});
