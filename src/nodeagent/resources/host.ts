// Prepares the host for pods, or reports why it is unsuitable: swap, kernel settings, and the agent's own OOM
// score and file limit.
import { execFile } from "node:child_process";
import { readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Log } from "#base";
import type { CgroupTree } from "./cgroup-tree.ts";

export interface HostOptions {
  readonly log: Log;
  readonly root?: string;
  readonly failSwapOn: boolean;
  /** Leaves kernel settings alone, and fails if they differ from the required values. */
  readonly protectKernelDefaults: boolean;
  readonly oomScoreAdj: number;
  readonly maxOpenFiles: number;
  /** Sets the open file limit of this process. */
  readonly limitOpenFiles?: (limit: number) => Promise<void>;
}

/**
 * Memory overcommit is allowed, an out-of-memory condition kills processes rather than the machine, and a
 * panic reboots.
 */
const kernelSettings: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};

/** Rejects if the agent must not run on this host. */
export async function prepareHost(options: HostOptions): Promise<void> {
  const { log, root = "/", limitOpenFiles = limitOwnFiles } = options;
  if (options.failSwapOn && (await hasSwap(root)))
    throw new Error(
      "the host has swap, which is not supported: switch it off, or set failSwapOn (--fail-swap-on) to false",
    );
  const wrong: string[] = [];
  for (const [name, wanted] of Object.entries(kernelSettings)) {
    const file = join(root, "proc/sys", name);
    const found = (await readFile(file, "utf8").catch(() => undefined))?.trim();
    if (found === undefined || found === wanted) continue;
    if (options.protectKernelDefaults) wrong.push(`${name.replaceAll("/", ".")} is ${found}, not ${wanted}`);
    else
      await writeFile(file, wanted).catch((error: Error) =>
        log.warn("failed to set kernel parameter", {
          setting: name,
          from: found,
          to: wanted,
          error: error.message,
        }),
      );
  }
  if (wrong.length > 0)
    throw new Error(
      `kernel settings differ from what the agent needs, and protectKernelDefaults forbids to change them: ${wrong.join("; ")}`,
    );
  await writeFile(join(root, "proc/self/oom_score_adj"), String(options.oomScoreAdj)).catch((error: Error) =>
    log.warn("failed to set oom_score_adj", { error: error.message }),
  );
  await limitOpenFiles(options.maxOpenFiles).catch((error: Error) =>
    log.warn("failed to set open file limit", {
      limit: options.maxOpenFiles,
      error: error.message,
    }),
  );
}

/** Reports whether a swap area is active, including in memory. The first line is a heading. */
async function hasSwap(root: string): Promise<boolean> {
  const lines = (await readFile(join(root, "proc/swaps"), "utf8").catch(() => "")).split("\n").slice(1);
  return lines.some((line) => line.trim() !== "");
}

async function limitOwnFiles(limit: number): Promise<void> {
  if (limit > 0) await promisify(execFile)("prlimit", [`--pid=${process.pid}`, `--nofile=${limit}:${limit}`]);
}

/**
 * Moves every process of the root cgroup, except kernel threads and init, into the group. Undone only by a
 * reboot.
 */
export async function moveSystemProcesses(tree: CgroupTree, group: string, root = "/"): Promise<void> {
  await tree.make(group);
  for (const name of await readdir(join(root, "proc"))) {
    const pid = Number(name);
    if (
      !Number.isInteger(pid) ||
      pid <= 1 ||
      !(await isInRoot(root, pid)) ||
      (await isOfTheKernel(root, pid))
    )
      continue;
    await tree.join(group, pid).catch(() => undefined);
  }
}

async function isInRoot(root: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(root, "proc", String(pid), "cgroup"), "utf8").catch(() => ""))
    .trim()
    .split("\n");
  const place =
    lines.find((line) => /^\d+:(?:[^:]*,)?(?:cpu|memory)(?:,[^:]*)?:/.test(line)) ??
    lines.find((line) => line.startsWith("0::"));
  return place !== undefined && place.endsWith(":/");
}

/** Reports whether a process is a kernel thread, which has no executable. */
const isOfTheKernel = async (root: string, pid: number): Promise<boolean> =>
  await readlink(join(root, "proc", String(pid), "exe")).then(
    () => false,
    () => true,
  );
