// A full disk: writes are refused with a clear error and have no effect, reads continue, the store opens again,
// and writes resume when there is space.

import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

// A small tmpfs in a separate mount namespace, which ends with the process.
const namespace = (["-m", "-rm"] as const).find(
  (flags) => spawnSync("unshare", [flags, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0,
);
const skip = namespace === undefined && "mounting a small disk is not allowed here";

/** Runs a program on a new disk. */
function onDisk(mebibytes: number, program: string): SpawnSyncReturns<string> {
  const disk = mkdtempSync(join(tmpdir(), "store-full-"));
  try {
    const script = `mount -t tmpfs -o size=${mebibytes}m none "$1" && exec "$2" --conditions=orch-source "$3" "$1"`;
    const args = ["sh", disk, process.execPath, join(import.meta.dirname, program)];
    return spawnSync("unshare", [namespace!, "sh", "-c", script, ...args], { encoding: "utf8" });
  } finally {
    rmSync(disk, { recursive: true });
  }
}

for (const mebibytes of [16, 64])
  test(
    `after a store has filled a disk of ${mebibytes} MiB, deletions make room for writes`,
    { skip },
    () => {
      const { status, stderr } = onDisk(mebibytes, "store-full-deletes.ts");
      assert.equal(status, 0, stderr);
    },
  );

test("updates for which the store has room are written on a full disk", { skip }, () => {
  const { status, stderr } = onDisk(32, "store-full-updates.ts");
  assert.equal(status, 0, stderr);
});

test("a full disk refuses writes, keeps reading, and recovers when space returns", { skip }, () => {
  const child = onDisk(16, "store-full-writer.ts");
  assert.equal(child.status, 0, child.stderr);
  const outcome = JSON.parse(child.stdout) as Record<string, unknown>;
  assert.match(String(outcome["refusal"]), /^no space left for the store in .*: the write was not done/);
  assert.deepEqual(outcome["onFullDisk"], ["2 rejected fulfilled", "1 rejected fulfilled"]);
  assert.ok(Number(outcome["acknowledgedWhenFull"]) > 10);
  assert.equal(outcome["readableWhenFull"], outcome["acknowledgedWhenFull"]);
  assert.deepEqual(
    ["doneAfterwards", "revisions", "lost", "unasked"].map((name) => outcome[name]),
    [5, 0, 0, 0],
    child.stdout,
  );
});
