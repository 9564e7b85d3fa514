// Removes what a node agent leaves on a machine besides its files: sandboxes, mounts, control groups and
// logs. Only pods with a folder below the agent's root are touched: others on a shared runtime are not ours.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, readlinkSync, rmSync, rmdirSync } from "node:fs";
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
  /** Whether the runtime is used by this cluster only. */
  readonly ownRuntime: boolean;
  readonly report: (line: string) => void;
}

/**
 * Removes everything. Throws if containers may remain, before anything else is removed; other leftovers are
 * passed to the callback.
 */
export async function cleanUpNode({
  dialect,
  agentRoot,
  cgroupRoot,
  runtimeEndpoint,
  ownRuntime,
  report,
}: CleanupOptions): Promise<void> {
  const uids = podsBelow(agentRoot);
  if (ownRuntime) await removeSandboxes(runtimeEndpoint, () => true);
  else await leaveRuntime(agentRoot, runtimeEndpoint);
  unmountBelow(agentRoot, report);
  // The agent bind-mounts its root directory onto itself if that is needed to make it a shared mount.
  if (mountsBelow(dirname(agentRoot), mountTable()).includes(agentRoot)) unmount(agentRoot, report);
  for (const group of podGroups("/sys/fs/cgroup", dialect.data.podsCgroup)) {
    if (uids.has(group.uid)) removeGroup(group.path);
  }
  for (const hierarchy of hierarchiesBelow("/sys/fs/cgroup")) removeGroup(join(hierarchy, cgroupRoot));
  removeLogs(uids, "/var/log/pods", "/var/log/containers");
}

/** Removes the log directories of pods, and the links to their logs. */
export function removeLogs(uids: ReadonlySet<string>, podLogs: string, links: string): void {
  const folders = namesIn(podLogs)
    .filter((name) => uids.has(name.slice(name.lastIndexOf("_") + 1)))
    .map((name) => join(podLogs, name));
  for (const link of linksIn(links))
    if (folders.includes(dirname(dirname(readlinkSync(link))))) rmSync(link, { force: true });
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

const linksIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isSymbolicLink())
        .map(({ name }) => join(folder, name))
    : [];

/** Removes the pods of an agent from a shared runtime. */
export async function leaveRuntime(agentRoot: string, endpoint: string): Promise<void> {
  const uids = podsBelow(agentRoot);
  if (uids.size > 0) await removeSandboxes(endpoint, (uid) => uids.has(uid));
}

const podsBelow = (agentRoot: string): ReadonlySet<string> => new Set(namesIn(join(agentRoot, "pods")));

export function unmountBelow(folder: string, report: (line: string) => void): void {
  for (const mount of mountsBelow(folder, mountTable())) unmount(mount, report);
}

function unmount(point: string, report: (line: string) => void): void {
  const { status, stderr } = spawnSync("umount", ["--lazy", point], { encoding: "utf8" });
  if (status !== 0) report(`${point} could not be unmounted: ${stderr.trim()}`);
}

async function removeSandboxes(endpoint: string, isOwnPod: (uid: string) => boolean): Promise<void> {
  const runtime = grpcRuntime({ endpoint });
  try {
    for (const { id, metadata } of await runtime.listPodSandboxes()) {
      if (!isOwnPod(metadata?.uid ?? "")) continue;
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    }
  } finally {
    runtime.close();
  }
}

/** Returns mount points below a folder, deepest first. */
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

/** Reports whether anything is mounted below a folder: removing its files would remove those of others. */
export const hasMounts = (folder: string): boolean => mountsBelow(folder, mountTable()).length > 0;

function mountTable(): string {
  return existsSync("/proc/self/mountinfo") ? readFileSync("/proc/self/mountinfo", "utf8") : "";
}

/** Returns the unified hierarchy, or one hierarchy per controller. */
const hierarchiesBelow = (root: string): string[] => [root, ...namesIn(root).map((name) => join(root, name))];

/**
 * Returns the control groups of pods: below the common group or its QoS classes, in one hierarchy or in
 * several.
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
    // A file of the group, or a group whose processes are still exiting.
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
