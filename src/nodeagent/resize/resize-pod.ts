// Resizes running containers: memory before CPU, and for each resource decreases before increases. Failures
// are retried by the next sync, since all steps are idempotent.
import type { Pod } from "#api";
import type { LinuxContainerResources } from "#cri";
import { hugepageLimits, linuxResources, oomScoreOf } from "../plan/amounts.ts";
import type { SyncContext } from "../sync/context.ts";
import type { ContainerResize, ContainerSize } from "./container-resize.ts";

type Update = ContainerResize & { readonly kind: "update" };

const resources = ["memory", "cpu"] as const;

export async function resizePod(
  context: Pick<SyncContext, "runtime" | "cgroups" | "settings" | "dialect">,
  pod: Pod,
  updates: readonly Update[],
  /** Containers were stopped to restart with other resources, so the pod's limits change, too. */
  { whole }: { readonly whole: boolean },
  signal: AbortSignal,
): Promise<void> {
  for (const resource of resources) {
    const due = updates.filter((update) => update[resource] !== undefined);
    if (due.length === 0 && !whole) continue;
    await context.cgroups.resize?.(pod, resource, "before");
    const shrinkFirst = due.toSorted(
      (a, b) => Number(a[resource] === "grows") - Number(b[resource] === "grows"),
    );
    for (const update of shrinkFirst)
      await context.runtime.updateContainerResources(
        update.id,
        linuxOf(context, pod, update, resource),
        signal,
      );
    await context.cgroups.resize?.(pod, resource, "after");
  }
}

/** Returns the container's resources after this step. */
function linuxOf(
  { settings, dialect }: Pick<SyncContext, "settings" | "dialect">,
  pod: Pod,
  { container, current, desired }: Update,
  resource: (typeof resources)[number],
): LinuxContainerResources {
  const size: ContainerSize =
    resource === "memory" ? { ...current, memoryLimit: desired.memoryLimit } : desired;
  return {
    ...linuxResources(size, settings.cpu),
    // Fields left out keep their value.
    ...(size.memoryLimit === 0 && current.memoryLimit > 0 && { memoryLimitInBytes: -1 }),
    ...(settings.cpu.quota && size.cpuLimit === 0 && current.cpuLimit > 0 && { cpuQuota: -1 }),
    oomScoreAdj: oomScoreOf(pod, container, settings.memoryCapacityBytes, dialect),
    hugepageLimits: hugepageLimits(container, settings.hugePageSizes),
  };
}
