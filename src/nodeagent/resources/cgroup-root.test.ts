import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "#base";
import { cgroupRootProblem } from "./cgroup-root.ts";
import { cgroupTree } from "./cgroup-tree.ts";

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "orch-root-group-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const naming = (root: string, driver: "cgroupfs" | "systemd" = "cgroupfs") => ({
  root,
  podsGroup: "pods",
  driver,
});

test("a root cgroup must exist in every required hierarchy", async (t) => {
  const folder = await folderOf(t);
  const names = ["cpu", "memory", "devices"];
  for (const name of names) await mkdir(join(folder, name), { recursive: true });
  await mkdir(join(folder, "cpu/half/below"), { recursive: true });
  for (const name of ["cpu", "memory"]) await mkdir(join(folder, name, "a_b.slice"));
  const controllers = new Map(names.map((name) => [name, join(folder, name)]));
  const tree = cgroupTree({ version: 1, controllers }, silentLog);
  const problem = (root: string, driver?: "systemd") => cgroupRootProblem(tree, naming(root, driver));
  assert.equal(await problem(""), undefined);
  assert.equal(await problem("/"), undefined);
  assert.equal(
    await problem("/half/below"),
    `invalid configuration: cgroup ["half" "below"] has some missing paths: ${folder}/memory/half/below`,
  );
  assert.equal(
    await problem("none"),
    `invalid configuration: cgroup ["none"] has some missing paths: ${folder}/cpu/none, ${folder}/memory/none`,
  );
  assert.equal(await problem("/a-b", "systemd"), undefined);
  assert.notEqual(await problem("/a-b"), undefined);
});

test("a cgroup v2 root group must have the controllers that the machine has", async (t) => {
  const path = await folderOf(t);
  await mkdir(join(path, "some"));
  await writeFile(join(path, "some/cgroup.controllers"), "cpu pids\n");
  const tree = cgroupTree(
    { version: 2, path, controllers: new Set(["cpu", "memory", "pids", "io"]) },
    silentLog,
  );
  assert.equal(
    await cgroupRootProblem(tree, naming("/some")),
    'invalid configuration: cgroup ["some"] has some missing controllers: memory',
  );
  await writeFile(join(path, "some/cgroup.controllers"), "cpu memory pids\n");
  assert.equal(await cgroupRootProblem(tree, naming("/some")), undefined);
});
