// Changes the limits of a pod's cgroup around a resize of its containers: increases are applied before the
// containers grow, decreases after they have shrunk, so that containers never exceed their pod.
import type { CgroupLimits, CgroupTree } from "./cgroup-tree.ts";
import { weightOf } from "./cgroup-tree.ts";

export interface CgroupResize {
  /** All limits of the pod; absent ones are unlimited. */
  readonly limits: CgroupLimits;
  readonly resource: "cpu" | "memory";
  readonly when: "before" | "after";
}

const unlimited = -1;

export async function resizeCgroup(
  tree: CgroupTree,
  name: string,
  { limits, resource, when }: CgroupResize,
): Promise<void> {
  const isDue = (from: number, to: number): boolean =>
    when === "before" ? bounded(to) > bounded(from) : bounded(to) < bounded(from);
  if (resource === "memory") {
    const wanted = limits.memoryBytes ?? unlimited;
    if (when === "before") await checkUse(tree, name, wanted);
    if (isDue(await memoryLimitOf(tree, name), wanted)) await tree.limit(name, { memoryBytes: wanted });
    return;
  }
  const quota = limits.cpuQuota && limits.cpuQuota > 0 ? limits.cpuQuota : unlimited;
  const { cpuPeriod = 100_000, cpuShares } = limits;
  if (isDue(await quotaOf(tree, name), quota)) await tree.limit(name, { cpuQuota: quota, cpuPeriod });
  if (cpuShares !== undefined && isDue(...(await weights(tree, name, cpuShares))))
    await tree.limit(name, { cpuShares });
}

const bounded = (limit: number): number => (limit < 0 ? Infinity : limit);
const isUnified = (tree: CgroupTree): boolean => tree.mounts.version === 2;

/** Throws if the limit is below usage, which would kill processes or be rejected by the kernel. */
async function checkUse(tree: CgroupTree, name: string, limit: number): Promise<void> {
  const file = isUnified(tree) ? "memory.current" : "memory.usage_in_bytes";
  const used = Number((await tree.read(name, "memory", file)) ?? 0);
  if (used >= bounded(limit))
    throw new Error("Aborting attempt to set pod memory limit less than current memory usage");
}

/** In cgroup v1 an absent limit is reported as the maximum number of pages. */
const maxBytes = 2 ** 62;

async function memoryLimitOf(tree: CgroupTree, name: string): Promise<number> {
  const file = isUnified(tree) ? "memory.max" : "memory.limit_in_bytes";
  const bytes = Number((await tree.read(name, "memory", file))?.trim() ?? "max");
  return Number.isNaN(bytes) || bytes > maxBytes ? unlimited : bytes;
}

async function quotaOf(tree: CgroupTree, name: string): Promise<number> {
  const text = await tree.read(name, "cpu", isUnified(tree) ? "cpu.max" : "cpu.cfs_quota_us");
  const quota = Number(text?.trim().split(" ")[0] ?? "max");
  return Number.isNaN(quota) ? unlimited : quota;
}

async function weights(tree: CgroupTree, name: string, shares: number): Promise<[from: number, to: number]> {
  const text = await tree.read(name, "cpu", isUnified(tree) ? "cpu.weight" : "cpu.shares");
  return [Number(text ?? 0), isUnified(tree) ? weightOf(shares) : shares];
}
