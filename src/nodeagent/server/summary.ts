// `/stats/summary`: node and pod stats as JSON, in the shape that autoscalers and dashboards read.
import { timeOfMillis } from "#base";
import type { CgroupUsage } from "../resources/cgroup-usage.ts";
import { type DiskUsage, sumOfUsage } from "../resources/disk-usage.ts";
import type { Filesystem, Machine } from "../resources/machine.ts";
import type { CpuUsage, NodeStats, PodStats } from "../resources/stats.ts";

export function summary(
  nodeName: string,
  machine: Machine,
  nodeStats: NodeStats,
  onlyCpuAndMemory: boolean,
): object {
  const time = timeOfMillis(nodeStats.at);
  const cpu = ({ nanoseconds, nanoCores }: CpuUsage): object => ({
    time,
    usageNanoCores: nanoCores ?? 0,
    usageCoreNanoSeconds: Math.trunc(nanoseconds),
  });
  const memory = (usage: CgroupUsage): object => ({
    time,
    ...(usage.memoryLimitBytes !== undefined && {
      availableBytes: Math.max(0, usage.memoryLimitBytes - usage.workingSetBytes),
    }),
    usageBytes: usage.memoryBytes,
    workingSetBytes: usage.workingSetBytes,
    rssBytes: usage.rssBytes,
    pageFaults: usage.pageFaults,
    majorPageFaults: usage.majorPageFaults,
  });
  const disk = (filesystem: Filesystem, used: DiskUsage): object => ({
    time,
    availableBytes: filesystem.availableBytes,
    capacityBytes: filesystem.capacityBytes,
    usedBytes: used.bytes,
    inodesFree: filesystem.inodesFree,
    inodes: filesystem.inodes,
    inodesUsed: used.inodes,
  });
  const { disk: nodeDisk, images, podsGroup } = nodeStats;
  const network = (of: NodeStats["network"]): object | undefined => {
    if (of.length === 0) return undefined;
    const shown = of.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
      name,
      rxBytes,
      rxErrors,
      txBytes,
      txErrors,
    }));
    return { time, ...(shown.find(({ name }) => name === "eth0") ?? shown[0]), interfaces: shown };
  };
  const withNetwork = (of: NodeStats["network"]): object => {
    const shown = onlyCpuAndMemory ? undefined : network(of);
    return shown ? { network: shown } : {};
  };
  const podOf = (pod: PodStats): object => ({
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: timeOfMillis(pod.startedAt),
    containers: pod.containers.map((one) => ({
      name: one.name,
      startTime: timeOfMillis(one.startedAt),
      cpu: cpu(one.cpu),
      memory: { time, workingSetBytes: one.workingSetBytes },
      ...(!onlyCpuAndMemory && {
        rootfs: disk(images.filesystem, one.rootfs),
        logs: disk(nodeDisk, one.logs),
      }),
    })),
    cpu: cpu(pod.cpu),
    memory: pod.usage
      ? memory(pod.usage)
      : { time, workingSetBytes: pod.containers.reduce((sum, one) => sum + one.workingSetBytes, 0) },
    ...withNetwork(pod.network),
    ...(!onlyCpuAndMemory && {
      ...(pod.volumes.length > 0 && {
        volume: pod.volumes.map(({ name, used, filesystem, claim }) => ({
          ...disk(filesystem, used),
          name,
          ...(claim !== undefined && { pvcRef: { name: claim, namespace: pod.namespace } }),
        })),
      }),
      "ephemeral-storage": disk(nodeDisk, localUsage(pod)),
      process_stats: { process_count: pod.usage?.processes ?? 0 },
    }),
  });
  return {
    node: {
      nodeName,
      systemContainers: Object.entries({
        ...nodeStats.systemGroups,
        ...(podsGroup && { pods: podsGroup }),
      }).map(([name, group]) => ({
        name,
        startTime: timeOfMillis(group.startedAt),
        cpu: cpu(group.cpu),
        memory: memory(group.usage),
      })),
      startTime: timeOfMillis(nodeStats.startedAt),
      cpu: cpu(nodeStats.cpu),
      memory: { time, ...nodeStats.memory },
      ...withNetwork(nodeStats.network),
      ...(!onlyCpuAndMemory && {
        fs: disk(nodeDisk, {
          bytes: nodeDisk.capacityBytes - nodeDisk.freeBytes,
          inodes: nodeDisk.inodes - nodeDisk.inodesFree,
        }),
        runtime: { imageFs: disk(images.filesystem, images.used) },
        rlimit: { time, maxpid: machine.maxPids, curproc: nodeStats.processes },
      }),
    },
    pods: nodeStats.pods.map(podOf),
  };
}

/**
 * Returns the local storage usage of a pod: writable layers, logs, files of the agent that containers can write to,
 * and volumes on the node's disk.
 */
export const localUsage = (pod: Pick<PodStats, "containers" | "volumes" | "files">): DiskUsage =>
  sumOfUsage([
    ...pod.containers.flatMap(({ rootfs, logs }) => [rootfs, logs]),
    ...pod.volumes.filter(({ isLocal }) => isLocal).map(({ used }) => used),
    pod.files,
  ]);
