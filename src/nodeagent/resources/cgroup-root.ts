// Validates the root cgroup of all pods. It is created by the administrator, never by the agent, so that a
// misspelled name does not free pods from the limits of the intended group.
import { silentLog } from "#base";
import { type CgroupNaming, partsOfGroup, rootCgroup } from "./cgroup-names.ts";
import { type CgroupTree, cgroupTree, findCgroups } from "./cgroup-tree.ts";

/** Returns why pods cannot run below the root group, or undefined. */
export async function cgroupRootProblem(
  tree: Pick<CgroupTree, "mounts" | "missing" | "read">,
  naming: CgroupNaming,
): Promise<string | undefined> {
  const group = rootCgroup(naming);
  const shown = `[${partsOfGroup(naming.root)
    .map((part) => JSON.stringify(part))
    .join(" ")}]`;
  const missing = await tree.missing(group);
  if (missing.length > 0)
    return `invalid configuration: cgroup ${shown} has some missing paths: ${missing.join(", ")}`;
  if (tree.mounts.version !== 2) return undefined;
  const enabled = new Set(((await tree.read(group, "", "cgroup.controllers")) ?? "").trim().split(/\s+/));
  const { controllers } = tree.mounts;
  const lacking = needed.filter((controller) => controllers.has(controller) && !enabled.has(controller));
  return lacking.length > 0
    ? `invalid configuration: cgroup ${shown} has some missing controllers: ${lacking.join(", ")}`
    : undefined;
}

/** Controllers needed for pod limits; one that the machine lacks altogether is not required. */
const needed = ["cpu", "cpuset", "hugetlb", "memory", "pids"];

/** Creates a group for use as an agent's root cgroup. */
export async function makeCgroupRoot(name: string): Promise<void> {
  await cgroupTree(await findCgroups(), silentLog).make(name);
}
