import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkpointStore } from "./checkpoint-store.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-checkpoint-"));
after(() => rmSync(folder, { recursive: true }));

test("a checkpoint is read as written, even by a new store", async () => {
  const directory = join(folder, "a");
  await checkpointStore(directory).write("cpu_manager_state", "first");
  await checkpointStore(directory).write("cpu_manager_state", "second");
  const later = checkpointStore(directory);
  assert.equal(await later.read("cpu_manager_state"), "second");
  assert.deepEqual(await later.names(), ["cpu_manager_state"]);
  assert.equal(statSync(join(directory, "cpu_manager_state")).mode & 0o777, 0o600);
});

test("a missing checkpoint is undefined, and removing it succeeds", async () => {
  const store = checkpointStore(join(folder, "none"));
  assert.equal(await store.read("x"), undefined);
  assert.deepEqual(await store.names(), []);
  await store.remove("x");
});

test("an interrupted write is not visible", async () => {
  const store = checkpointStore(join(folder, "b"));
  await store.write("x", "whole");
  writeFileSync(join(folder, "b", "x.new"), "ha");
  assert.equal(await store.read("x"), "whole");
  assert.deepEqual(await store.names(), ["x"]);
});

for (const name of ["../x", "a/b", "", ".hidden"])
  test(`${JSON.stringify(name)} cannot name a checkpoint`, () => {
    assert.throws(() => checkpointStore(folder).read(name), /cannot name a checkpoint/);
  });
