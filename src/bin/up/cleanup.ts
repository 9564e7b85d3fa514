// What a node agent leaves on a machine besides its files: sandboxes in the runtime, mounts, control groups,
// logs. Only pods that have a folder below the agent's own root are touched: whatever else runs on a runtime
// of the machine is not ours.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { grpcRuntime } from "#cri";
import type { Dialect } from "#dialect";

export interface CleanupOptions {
  readonly dialect: Dialect;
  /** The agent's root directory. */
  readonly agentRoot: string;
  /** The control group of the cluster's pods. */
  readonly cgroupRoot: string;
  readonly runtimeEndpoint: string;
  /** Whether everything on that runtime is ours. */
  readonly ownRuntime: boolean;
  readonly tell: (line: string) => void;
}

/**
 * Removes them all. Throws when containers may be left, before anything else is removed; of the rest it tells
 * what stays, and goes on.
 */
export async function cleanUpNode({
  dialect,
  agentRoot,
  cgroupRoot,
  runtimeEndpoint,
  ownRuntime,
  tell,
}: CleanupOptions): Promise<void> {
  const uids = podsBelow(agentRoot);
  if (ownRuntime) await removeSandboxes(runtimeEndpoint, () => true);
  else await leaveRuntime(agentRoot, runtimeEndpoint);
  unmountBelow(agentRoot, tell);
  // The agent binds its root directory to itself, where that is what makes it a shared mount.
  if (mountsBelow(dirname(agentRoot), mountTable()).includes(agentRoot)) unmount(agentRoot, tell);
  for (const group of podGroups("/sys/fs/cgroup", dialect.data.podsCgroup)) {
    if (uids.has(group.uid)) removeGroup(group.path);
  }
  for (const hierarchy of hierarchiesBelow("/sys/fs/cgroup")) removeGroup(join(hierarchy, cgroupRoot));
  for (const name of namesIn("/var/log/pods")) {
    if (uids.has(name.slice(name.lastIndexOf("_") + 1)))
      rmSync(join("/var/log/pods", name), { recursive: true, force: true });
  }
}

/** Removes the pods of an agent from a runtime of the machine. */
export async function leaveRuntime(agentRoot: string, endpoint: string): Promise<void> {
  const uids = podsBelow(agentRoot);
  if (uids.size > 0) await removeSandboxes(endpoint, (uid) => uids.has(uid));
}

const podsBelow = (agentRoot: string): ReadonlySet<string> => new Set(namesIn(join(agentRoot, "pods")));

export function unmountBelow(folder: string, tell: (line: string) => void): void {
  for (const mount of mountsBelow(folder, mountTable())) unmount(mount, tell);
}

function unmount(point: string, tell: (line: string) => void): void {
  const { status, stderr } = spawnSync("umount", ["--lazy", point], { encoding: "utf8" });
  if (status !== 0) tell(`${point} stays mounted: ${stderr.trim()}`);
}

async function removeSandboxes(endpoint: string, isOurs: (uid: string) => boolean): Promise<void> {
  const runtime = grpcRuntime({ endpoint });
  try {
    for (const { id, metadata } of await runtime.listPodSandboxes()) {
      if (!isOurs(metadata?.uid ?? "")) continue;
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    }
  } finally {
    runtime.close();
  }
}

/** Mount points below a folder, the deepest first. */
export function mountsBelow(folder: string, table: string): string[] {
  return table
    .split("\n")
    .map((line) =>
      (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 8)),
      ),
    )
    .filter((mount) => mount.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length);
}

function mountTable(): string {
  return existsSync("/proc/self/mountinfo") ? readFileSync("/proc/self/mountinfo", "utf8") : "";
}

/** The one hierarchy, or one for each controller. */
const hierarchiesBelow = (root: string): string[] => [root, ...namesIn(root).map((name) => join(root, name))];

/**
 * Control groups of pods: directly below the common one or below its classes, in one hierarchy or in several.
 */
export function podGroups(root: string, common: string): { readonly uid: string; readonly path: string }[] {
  return hierarchiesBelow(root).flatMap((hierarchy) => {
    const top = join(hierarchy, common);
    return [top, ...namesIn(top).map((name) => join(top, name))].flatMap((parent) =>
      namesIn(parent).flatMap((name) =>
        name.startsWith("pod") ? [{ uid: name.slice(3), path: join(parent, name) }] : [],
      ),
    );
  });
}

function removeGroup(path: string): void {
  for (const name of namesIn(path)) removeGroup(join(path, name));
  try {
    rmdirSync(path);
  } catch {
    // A file of the group, or a group whose processes are still ending.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
