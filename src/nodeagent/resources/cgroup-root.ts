// The control group below which all pods run is the administrator's: the agent makes groups in it, never the
// group itself, so that a misspelt name does not set pods free of the limits that the intended group has.
import { silentLog } from "#base";
import { type CgroupNaming, partsOfGroup, rootCgroup } from "./cgroup-names.ts";
import { type CgroupTree, cgroupTree, findCgroups } from "./cgroup-tree.ts";

/** Why pods cannot run below the root group, or undefined. */
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

/** Those that the limits of pods need; one that the machine lacks altogether is done without. */
const needed = ["cpu", "cpuset", "hugetlb", "memory", "pids"];

/** Makes a group for an agent that is told to use it as its root. */
export async function makeCgroupRoot(name: string): Promise<void> {
  await cgroupTree(await findCgroups(), silentLog).make(name);
}
