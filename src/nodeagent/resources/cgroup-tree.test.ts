import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "#base";
import { cgroupTree } from "./cgroup-tree.ts";

test("an existing group may be missing in optional v1 hierarchies, but not in required ones", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orch-groups-"));
  t.after(() => rm(folder, { recursive: true }));
  const names = ["cpu", "memory", "pids", "devices", "freezer", "name=systemd"];
  const controllers = new Map(names.map((name) => [name, join(folder, name)]));
  const tree = cgroupTree({ version: 1, controllers }, silentLog);
  for (const name of names) await mkdir(join(folder, name, "whole"), { recursive: true });
  for (const name of ["cpu", "memory", "pids", "name=systemd"]) await mkdir(join(folder, name, "counted"));
  for (const name of ["cpu", "memory", "devices", "freezer"]) await mkdir(join(folder, name, "parts"));
  assert.deepEqual(
    await Promise.all(["whole", "/counted", "parts", "none"].map((name) => tree.exists(name))),
    [true, true, false, false],
  );
});
