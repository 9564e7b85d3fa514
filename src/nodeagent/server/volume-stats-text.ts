// The usage of the volumes of claims, in the Prometheus text format; a claim that several pods share is shown once.
import type { Dialect } from "#dialect";
import type { NodeStats, VolumeUsage } from "../resources/stats.ts";
import { formatFamily } from "./metrics-text.ts";

const families: readonly (readonly [name: string, help: string, value: (of: VolumeUsage) => number])[] = [
  ["available_bytes", "Number of available bytes in the volume", (of) => of.filesystem.availableBytes],
  ["capacity_bytes", "Capacity in bytes of the volume", (of) => of.filesystem.capacityBytes],
  ["inodes", "Maximum number of inodes in the volume", (of) => of.filesystem.inodes],
  ["inodes_free", "Number of free inodes in the volume", (of) => of.filesystem.inodesFree],
  ["inodes_used", "Number of used inodes in the volume", (of) => of.used.inodes],
  ["used_bytes", "Number of used bytes in the volume", (of) => of.used.bytes],
];

export function volumeStatsText(dialect: Dialect, { pods }: Pick<NodeStats, "pods">): string {
  const claims = new Map<string, readonly [namespace: string, volume: VolumeUsage]>();
  for (const { namespace, volumes } of pods)
    for (const volume of volumes) {
      if (volume.claim === undefined) continue;
      const key = `${namespace}/${volume.claim}`;
      if (!claims.has(key)) claims.set(key, [namespace, volume]);
    }
  return families
    .map(([name, help, value]) =>
      formatFamily(
        `${dialect.data.agentMetricPrefix}volume_stats_${name}`,
        "gauge",
        `[ALPHA] ${help}`,
        [...claims.values()].map(([namespace, volume]) => ({
          labels: { namespace, persistentvolumeclaim: volume.claim! },
          value: value(volume),
        })),
      ),
    )
    .join("");
}
