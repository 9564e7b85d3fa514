import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "#base";
import { type LockFile, lockFile } from "./lock-file.ts";

test("a lock is held until released, and whoever waits for it is noticed", async () => {
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
    assert.ok(second, "nobody waited before the second came");
    assert.equal(passed, false, "the second waits");
    first.release();
    (await second).release();
    assert.equal(passed, true);
  } finally {
    stop.abort();
    rmSync(folder, { recursive: true });
  }
});

test("an agent that stops is not contended for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-lock-"));
  const lock = await lockFile(join(folder, "lock"), systemClock);
  const stop = new AbortController();
  const contended = lock.contended(stop.signal);
  stop.abort();
  assert.equal(await contended, false);
  lock.release();
  rmSync(folder, { recursive: true });
});

test("a lock that cannot be had is told", async () => {
  await assert.rejects(lockFile("/no/such/folder/lock", systemClock), /cannot be locked/);
});
