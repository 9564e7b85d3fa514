import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "#base";
import { cgroupTree } from "./cgroup-tree.ts";
import { moveSystemProcesses, prepareHost } from "./host.ts";

async function machine(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "host-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ "proc/self/oom_score_adj": "0", ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}
const usual = {
  log: silentLog,
  failSwapOn: true,
  protectKernelDefaults: false,
  oomScoreAdj: -999,
  maxOpenFiles: 1000,
  limitOpenFiles: () => Promise.resolve(),
};

test("a host with swap is rejected unless swap is allowed", async (t) => {
  const root = await machine(t, { "proc/swaps": "Filename Type Size Used Priority\n/swap file 1 0 -2\n" });
  await assert.rejects(prepareHost({ ...usual, root }), /the host has swap/);
  await prepareHost({ ...usual, root, failSwapOn: false });
});

test("kernel settings are changed, or reported if protected", async (t) => {
  const root = await machine(t, {
    "proc/swaps": "Filename\n",
    "proc/sys/vm/overcommit_memory": "0\n",
    "proc/sys/kernel/panic": "10\n",
  });
  await assert.rejects(
    prepareHost({ ...usual, root, protectKernelDefaults: true }),
    /vm\.overcommit_memory is 0, not 1$/,
  );
  await prepareHost({ ...usual, root });
  assert.equal(await readFile(join(root, "proc/sys/vm/overcommit_memory"), "utf8"), "1");
  assert.equal(await readFile(join(root, "proc/self/oom_score_adj"), "utf8"), "-999");
  await prepareHost({ ...usual, root, protectKernelDefaults: true });
});

test("settings that cannot be changed do not prevent the start", async (t) => {
  const root = await machine(t, {});
  const warnings: string[] = [];
  await prepareHost({
    ...usual,
    root,
    log: { ...silentLog, warn: (message) => void warnings.push(message) },
    limitOpenFiles: () => Promise.reject(new Error("no")),
  });
  assert.deepEqual(warnings, ["failed to set open file limit"]);
});

test("processes in the root cgroup are moved, except init, kernel threads and those in other groups", async (t) => {
  const root = await machine(t, {
    "proc/1/cgroup": "1:cpu:/\n",
    "proc/10/cgroup": "2:memory:/\n1:cpu:/\n",
    "proc/11/cgroup": "1:cpu:/somewhere\n",
    "proc/12/cgroup": "1:cpu:/\n",
    "cpu/cgroup.procs": "",
  });
  for (const pid of [1, 10, 11]) await symlink("/bin/true", join(root, `proc/${pid}/exe`));
  const joined: number[] = [];
  const tree = {
    ...cgroupTree({ version: 1, controllers: new Map([["cpu", join(root, "cpu")]]) }, silentLog),
    join: (_: string, pid: number) => Promise.resolve(void joined.push(pid)),
  };
  await moveSystemProcesses(tree, "/system", root);
  assert.deepEqual(joined, [10]);
});
