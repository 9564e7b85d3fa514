// Full stats of all relevant control groups: of the machine, of all pods together, of each pod and each
// container.
import type { CgroupTree } from "./cgroup-tree.ts";
import { type CgroupDetails, cgroupDetails } from "./cgroup-details.ts";
import { type CgroupUsage, cgroupUsage } from "./cgroup-usage.ts";
import { type DiskCounts, deviceOf, diskCounts } from "./disk-traffic.ts";
import type { ContainerUsage, NodeStats, PodStats } from "./stats.ts";

export interface FullCgroupStats {
  readonly id: string;
  readonly pod?: PodStats;
  readonly container?: ContainerUsage;
  readonly startedAt: number;
  readonly usage: CgroupUsage;
  readonly details: CgroupDetails;
}

export interface AllCgroupStats {
  readonly groups: readonly FullCgroupStats[];
  readonly disks: readonly DiskCounts[];
  /** The device that holds the agent's root directory. */
  readonly device: string;
}

/** Collects the stats of all groups; costs several file reads per group, so it runs only on request. */
export async function collectCgroupStats(
  nodeStats: NodeStats,
  tree: CgroupTree,
  podsGroup: string,
  rootDirectory: string,
): Promise<AllCgroupStats> {
  const groups: FullCgroupStats[] = [];
  const add = async (
    id: string,
    startedAt: number,
    more: Pick<FullCgroupStats, "pod" | "container"> = {},
    better: Partial<CgroupUsage> = {},
  ): Promise<void> => {
    const usage = await cgroupUsage(tree, id);
    if (usage)
      groups.push({
        id,
        startedAt,
        usage: { ...usage, ...better },
        details: await cgroupDetails(tree, id),
        ...more,
      });
  };
  const {
    usageBytes: memoryBytes,
    workingSetBytes,
    rssBytes,
    pageFaults,
    majorPageFaults,
  } = nodeStats.memory;
  await add(
    "/",
    nodeStats.startedAt,
    {},
    { memoryBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults, processes: nodeStats.processes },
  );
  await add(podsGroup, nodeStats.podsGroup?.startedAt ?? nodeStats.startedAt);
  for (const pod of nodeStats.pods) {
    await add(pod.group, pod.startedAt, { pod });
    for (const container of pod.containers)
      await add(`${pod.group}/${container.id}`, container.startedAt, { pod, container });
  }
  return { groups, disks: await diskCounts(), device: await deviceOf(rootDirectory).catch(() => "") };
}
