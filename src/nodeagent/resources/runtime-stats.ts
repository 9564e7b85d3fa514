// Pod and container stats reported by the runtime, in place of cgroup stats (PodAndContainerStatsFromCRI).
import type { ContainerRuntime } from "#cri";
import type { CgroupUsage, InterfaceUsage } from "./cgroup-usage.ts";

type SandboxStats = Awaited<ReturnType<ContainerRuntime["listPodSandboxStats"]>>[number];
type LinuxStats = NonNullable<SandboxStats["linux"]>;
type ContainerStats = LinuxStats["containers"][number];

export interface RuntimeStats {
  /** By container ID. */
  readonly containers: ReadonlyMap<string, ContainerStats>;
  /** By pod uid. */
  readonly pods: ReadonlyMap<
    string,
    { readonly usage: CgroupUsage; readonly network: readonly InterfaceUsage[] }
  >;
}

/**
 * Returns undefined if the runtime does not provide stats, so that cgroup stats are used. Old runtimes do not
 * implement the call, and containerd 1.6 fails for all pods once one of them has ended.
 */
export async function runtimeStats(
  runtime: Pick<ContainerRuntime, "listPodSandboxStats">,
): Promise<RuntimeStats | undefined> {
  const reported = await runtime.listPodSandboxStats().catch(() => undefined);
  if (!reported) return undefined;
  const linux = reported.flatMap(({ attributes, linux: figures }) =>
    figures ? [{ uid: attributes?.metadata?.uid ?? "", figures }] : [],
  );
  return {
    containers: new Map(
      linux.flatMap(({ figures }) => figures.containers.map((one) => [one.attributes?.id ?? "", one])),
    ),
    pods: new Map(
      linux.map(({ uid, figures }) => [uid, { usage: usageOf(figures), network: networkOf(figures) }]),
    ),
  };
}

const valueOf = (reported: { readonly value?: number | bigint | undefined } | undefined): number =>
  Number(reported?.value ?? 0);

function usageOf({ cpu, memory, process }: LinuxStats): CgroupUsage {
  const workingSetBytes = valueOf(memory?.workingSetBytes);
  return {
    cpuNanoseconds: valueOf(cpu?.usageCoreNanoSeconds),
    memoryBytes: valueOf(memory?.usageBytes),
    workingSetBytes,
    rssBytes: valueOf(memory?.rssBytes),
    pageFaults: valueOf(memory?.pageFaults),
    majorPageFaults: valueOf(memory?.majorPageFaults),
    memoryLimitBytes: memory?.availableBytes ? workingSetBytes + valueOf(memory.availableBytes) : undefined,
    processes: valueOf(process?.processCount),
    // Not part of the CRI.
    userNanoseconds: 0,
    systemNanoseconds: 0,
    periods: 0,
    throttledPeriods: 0,
    throttledNanoseconds: 0,
    cacheBytes: 0,
    swapBytes: 0,
    mappedFileBytes: 0,
    mostMemoryBytes: 0,
    memoryFailures: 0,
  };
}

function networkOf({ network }: LinuxStats): InterfaceUsage[] {
  const main = network?.defaultInterface;
  const others = (network?.interfaces ?? []).filter(({ name }) => name !== main?.name);
  return [...(main ? [main] : []), ...others].map((each) => ({
    name: each.name,
    rxBytes: valueOf(each.rxBytes),
    rxErrors: valueOf(each.rxErrors),
    txBytes: valueOf(each.txBytes),
    txErrors: valueOf(each.txErrors),
    rxPackets: 0,
    rxDropped: 0,
    txPackets: 0,
    txDropped: 0,
  }));
}
