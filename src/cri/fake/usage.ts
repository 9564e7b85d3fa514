// Stats of the fake runtime's sandboxes and containers: made up, but growing over time.
import type { ContainerStats, PodSandboxStats } from "../messages/stats.ts";
import type { HeldContainer, HeldSandbox } from "./objects.ts";

const memoryBytes = 1 << 20;

/** Returns the stats of a container, which uses a hundredth of a core and one mebibyte. */
export function containerStatsView(held: HeldContainer, now: bigint): ContainerStats {
  const running = held.startedAt > 0n && held.finishedAt === 0n;
  const lived = held.startedAt === 0n ? 0n : (held.finishedAt || now) - held.startedAt;
  return {
    attributes: {
      id: held.id,
      metadata: held.config.metadata,
      labels: { ...held.config.labels },
      annotations: { ...held.config.annotations },
    },
    cpu: {
      timestamp: now,
      usageCoreNanoSeconds: { value: Number(lived / 100n) },
      usageNanoCores: { value: running ? 10_000_000 : 0 },
    },
    memory: {
      timestamp: now,
      workingSetBytes: { value: running ? memoryBytes : 0 },
      usageBytes: { value: running ? memoryBytes : 0 },
      rssBytes: { value: running ? memoryBytes : 0 },
    },
    writableLayer: {
      timestamp: now,
      fsId: { mountpoint: "/var/lib/fake" },
      usedBytes: { value: 4096 },
      inodesUsed: { value: 1 },
    },
  };
}

export function sandboxStatsView(
  held: HeldSandbox,
  containers: readonly HeldContainer[],
  now: bigint,
): PodSandboxStats {
  const each = containers.map((container) => containerStatsView(container, now));
  const sum = (figure: (stats: ContainerStats) => number | bigint | undefined): number =>
    each.reduce((total, stats) => total + Number(figure(stats) ?? 0), 0);
  return {
    attributes: {
      id: held.id,
      metadata: held.config.metadata,
      labels: { ...held.config.labels },
      annotations: { ...held.config.annotations },
    },
    linux: {
      cpu: {
        timestamp: now,
        usageCoreNanoSeconds: { value: sum((stats) => stats.cpu?.usageCoreNanoSeconds?.value) },
        usageNanoCores: { value: sum((stats) => stats.cpu?.usageNanoCores?.value) },
      },
      memory: {
        timestamp: now,
        workingSetBytes: { value: sum((stats) => stats.memory?.workingSetBytes?.value) },
      },
      network: {
        timestamp: now,
        defaultInterface: { name: "eth0", rxBytes: { value: 0 }, txBytes: { value: 0 } },
        interfaces: [],
      },
      process: { timestamp: now, processCount: { value: each.length + 1 } },
      containers: each,
    },
  };
}
