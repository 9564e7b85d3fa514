import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#base";
import { lockFile } from "./lock-file.ts";

test("a lock is held until released, and whoever waits for it is noticed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-lock-"));
  const stop = new AbortController();
  try {
    const path = join(folder, "lock");
    const first = await lockFile(path, systemClock);
    const second = lockFile(path, systemClock);
    await first.contended(stop.signal);
    first.release();
    (await second).release();
  } finally {
    stop.abort();
    rmSync(folder, { recursive: true });
  }
});

test("a lock that cannot be had is told", async () => {
  await assert.rejects(lockFile("/no/such/folder/lock", systemClock), /cannot be locked/);
});
