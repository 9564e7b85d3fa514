// Everything that pods can leave on a node, read from the system and not from the agent.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ContainerRuntime, containerState, sandboxState } from "#cri";
import type { Cluster } from "#kit";

/** Returns the leftovers of pods that do not belong to `kept`, one line for each. */
export async function tracesOf(
  cluster: Cluster,
  runtime: ContainerRuntime,
  kept: ReadonlySet<string>,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const { containerd, agent } = cluster;
  const sandboxes = await runtime.listPodSandboxes();
  const containers = await runtime.listContainers();
  const uidOf = new Map(sandboxes.map(({ id, metadata }) => [id, metadata?.uid ?? ""]));
  const isStray = (uid: string): boolean => !kept.has(uid);
  const uidIn = (text: string): string | undefined =>
    [...known].find((uid) => text.includes(uid) || text.includes(uid.replaceAll("-", "_")));
  const strayIn = (text: string): boolean => {
    const uid = uidIn(text);
    return uid !== undefined && isStray(uid);
  };
  const lines = await readFile("/proc/self/mountinfo", "utf8");
  const addresses = await addressesIn(join(containerd.folder, "ipam"));
  const holders = sandboxes.filter(
    ({ state, metadata }) => state === sandboxState.ready && kept.has(metadata?.uid ?? ""),
  );
  return [
    ...sandboxes
      .filter(({ metadata }) => isStray(metadata?.uid ?? ""))
      .map(({ id, metadata, state }) => `sandbox ${id} of ${metadata?.name} ${metadata?.uid} state ${state}`),
    ...containers
      .filter(({ podSandboxId }) => isStray(uidOf.get(podSandboxId) ?? ""))
      .map(({ id, metadata, state }) => `container ${id} ${metadata?.name} state ${state}`),
    ...(await readdir(join(agent.rootDir, "pods"))).filter(isStray).map((uid) => `folder of pod ${uid}`),
    ...lines
      .split("\n")
      .map((line) => line.split(" ")[4] ?? "")
      .filter(strayIn)
      .map((point) => `mount ${point}`),
    ...(await readdir("/var/log/pods")).filter(strayIn).map((name) => `log folder ${name}`),
    ...(await groupsBelow(containerd.cgroupRoot)).filter(strayIn).map((path) => `control group ${path}`),
    ...(addresses.length > holders.length
      ? [`${addresses.length} addresses for ${holders.length} sandboxes: ${textOf(addresses, sandboxes)}`]
      : []),
  ];
}

/**
 * Describes the owner of each address: an agent cannot know the owner of one whose sandbox the runtime does
 * not list.
 */
const textOf = (
  addresses: readonly { readonly address: string; readonly sandbox: string }[],
  sandboxes: readonly { readonly id: string; readonly state: number }[],
): string =>
  addresses
    .map(({ address, sandbox }) => {
      const holder = sandboxes.find(({ id }) => id === sandbox);
      return `${address} of ${sandbox || "nobody"} ${holder ? `state ${holder.state}` : "not listed"}`;
    })
    .join(", ");

/**
 * Returns the allocated addresses with their sandboxes: each is a file named after the address, with the
 * sandbox in its first line.
 */
async function addressesIn(folder: string): Promise<{ address: string; sandbox: string }[]> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const files = paths.filter((path) => /(^|\/)\d+(\.\d+){3}$/.test(path));
  return await Promise.all(
    files.map(async (path) => ({
      address: path.split("/").at(-1)!,
      // An address that is released meanwhile has no owner.
      sandbox: (await readFile(join(folder, path), "utf8").catch(() => "")).split(/\r?\n/)[0]!,
    })),
  );
}

/** Returns containers of the same name that run concurrently in one pod. */
export async function doublesOf(runtime: ContainerRuntime): Promise<string[]> {
  const uidOf = new Map(
    (await runtime.listPodSandboxes()).map(({ id, metadata }) => [id, metadata?.uid ?? id]),
  );
  const seen = new Map<string, number>();
  for (const { podSandboxId, metadata } of await runtime.listContainers({
    state: { state: containerState.running },
  })) {
    const key = `${uidOf.get(podSandboxId) ?? podSandboxId}/${metadata?.name}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, count]) => count > 1).map(([key]) => key);
}

/** Returns the cgroups below one, in all hierarchies. */
async function groupsBelow(root: string): Promise<string[]> {
  const trees = ["", ...(await readdir("/sys/fs/cgroup"))];
  const found = await Promise.all(
    trees.map((tree) =>
      readdir(join("/sys/fs/cgroup", tree, root), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  return [
    ...new Set(
      found.flat().flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : [])),
    ),
  ];
}
