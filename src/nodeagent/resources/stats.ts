// Resource usage of the node, its pods and containers: collected on request, at most once every few seconds.
import { lstat, readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Pod } from "#api";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { MountedVolume, PodRegistry, VolumeStats } from "../interfaces.ts";
import { type CgroupUsage, type InterfaceUsage, cgroupUsage, networkUsage } from "./cgroup-usage.ts";
import type { CgroupTree } from "./cgroup-tree.ts";
import { type DiskUsage, sumOfUsage } from "./disk-usage.ts";
import { type AllCgroupStats, collectCgroupStats } from "./cgroup-stats.ts";
import { type Filesystem, type Machine, filesystemOf, runningProcesses } from "./machine.ts";
import { type NodeMemory, nodeMemory } from "./node-memory.ts";
import { type RuntimeStats, runtimeStats } from "./runtime-stats.ts";
import { type VolumeMeasure, type VolumeMeterOptions, volumeMeter } from "./volume-meter.ts";

export interface CpuUsage {
  readonly nanoseconds: number;
  /** Nanocores since the previous sample; undefined in the first. */
  readonly nanoCores: number | undefined;
}

export interface ContainerUsage {
  readonly name: string;
  readonly id: string;
  readonly image: string;
  readonly startedAt: number;
  readonly cpu: CpuUsage;
  readonly workingSetBytes: number;
  readonly rootfs: DiskUsage;
  readonly logs: DiskUsage;
}

export interface VolumeUsage {
  readonly name: string;
  readonly used: DiskUsage;
  readonly filesystem: Filesystem;
  /** Whether it counts as the pod's local storage. */
  readonly isLocal: boolean;
  /** The claim of the pod's namespace that provides the volume. */
  readonly claim?: string;
}

export interface PodStats {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly startedAt: number;
  readonly group: string;
  readonly cpu: CpuUsage;
  readonly usage: CgroupUsage | undefined;
  readonly network: readonly InterfaceUsage[];
  readonly containers: readonly ContainerUsage[];
  readonly volumes: readonly VolumeUsage[];
  /** The hosts file and the termination messages, which containers can write to. */
  readonly files: DiskUsage;
}

export interface NodeStats {
  readonly at: number;
  readonly startedAt: number;
  readonly cpu: CpuUsage;
  readonly memory: NodeMemory;
  readonly network: readonly InterfaceUsage[];
  readonly disk: Filesystem;
  readonly images: { readonly filesystem: Filesystem; readonly used: DiskUsage };
  readonly processes: number;
  readonly podsGroup: CgroupStats | undefined;
  /** The configured system groups by name, such as the runtime's. */
  readonly systemGroups?: Readonly<Record<string, CgroupStats>>;
  readonly pods: readonly PodStats[];
}

export interface CgroupStats {
  readonly startedAt: number;
  readonly cpu: CpuUsage;
  readonly usage: CgroupUsage;
}

export interface StatsOptions {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly registry: PodRegistry;
  readonly tree: CgroupTree;
  readonly machine: Machine;
  readonly rootDirectory: string;
  readonly podsGroup: string;
  /** Additional groups by name: the agent, the runtime, the rest of the system. */
  readonly systemGroups?: Readonly<Record<string, string>>;
  readonly groupOf: (pod: Pod) => string;
  readonly volumesOf: (podUid: string) => ReadonlyMap<string, MountedVolume>;
  /** How long volume stats are cached; 0 disables them. */
  readonly volumeMilliseconds: number;
  readonly volumeTook?: VolumeMeterOptions["took"];
  /** Whether all pod stats are requested from the runtime, as far as it provides them. */
  readonly fromRuntime?: boolean;
  /** Maximum age of returned stats. */
  readonly oldestMilliseconds?: number;
}

export interface Stats {
  get(): Promise<NodeStats>;
  /** Returns the full stats of all control groups. */
  groups(): Promise<AllCgroupStats>;
}

const goodForMilliseconds = 2000;
const tickNanoseconds = 10_000_000;

export function stats(options: StatsOptions): Stats {
  const { clock, runtime, registry, tree } = options;
  const startedAt = clock.now();
  let last: NodeStats | undefined;
  let collectedAt = -Infinity;
  let collecting: Promise<NodeStats> | undefined;
  let samples = new Map<string, { readonly at: number; readonly nanoseconds: number }>();
  let fresh = new Map<string, { readonly at: number; readonly nanoseconds: number }>();
  const meter = volumeMeter({
    clock,
    goodForMilliseconds: options.volumeMilliseconds,
    ...(options.volumeTook && { took: options.volumeTook }),
  });

  const get = async (): Promise<NodeStats> => {
    const goodFor = Math.min(goodForMilliseconds, options.oldestMilliseconds ?? Infinity);
    if (last && clock.monotonic() - collectedAt < goodFor) return last;
    collecting ??= collect().finally(() => (collecting = undefined));
    return await collecting;
  };
  return {
    get,
    groups: async () => await collectCgroupStats(await get(), tree, options.podsGroup, options.rootDirectory),
  };

  async function collect(): Promise<NodeStats> {
    fresh = new Map();
    const reported = options.fromRuntime ? await runtimeStats(runtime) : undefined;
    const containers =
      reported?.containers ??
      new Map((await runtime.listContainerStats()).map((one) => [one.attributes?.id ?? "", one]));
    const disk = await filesystemOf(options.rootDirectory);
    const measured = new Set<string>();
    const pods: PodStats[] = [];
    for (const pod of registry.pods()) {
      const figures = await ofPod(pod, { containers, ...(reported && { pods: reported.pods }) }, measured);
      if (figures) pods.push(figures);
    }
    const ofGroup = async (group: string): Promise<CgroupStats | undefined> => {
      const usage = await cgroupUsage(tree, group);
      return usage && { startedAt, cpu: cpu(group, usage.cpuNanoseconds), usage };
    };
    const systemGroups: Record<string, CgroupStats> = {};
    for (const [name, group] of Object.entries(options.systemGroups ?? {})) {
      const figures = await ofGroup(group);
      if (figures) systemGroups[name] = figures;
    }
    collectedAt = clock.monotonic();
    last = {
      at: clock.now(),
      startedAt,
      cpu: cpu("node", nodeNanoseconds(await readFile("/proc/stat", "utf8"))),
      memory: await nodeMemory(tree, options.machine.memoryBytes),
      network: await networkUsage("self"),
      disk,
      images: await ofImages(disk),
      processes: await runningProcesses(),
      podsGroup: await ofGroup(options.podsGroup),
      systemGroups,
      pods,
    };
    samples = fresh;
    meter.keepOnly(measured);
    return last;
  }

  function cpu(key: string, nanoseconds: number): CpuUsage {
    const at = clock.monotonic();
    const before = samples.get(key);
    fresh.set(key, { at, nanoseconds });
    const nanoCores =
      before && at > before.at && nanoseconds >= before.nanoseconds
        ? Math.round(((nanoseconds - before.nanoseconds) * 1000) / (at - before.at))
        : undefined;
    return { nanoseconds, nanoCores };
  }

  type ReportedStats = Pick<RuntimeStats, "containers"> & Partial<RuntimeStats>;

  async function ofPod(
    pod: Pod,
    reported: ReportedStats,
    measured: Set<string>,
  ): Promise<PodStats | undefined> {
    const uid = uidOf(pod);
    const running = registry.containers(uid).filter(({ state }) => state === "running");
    const group = options.groupOf(pod);
    const ofRuntime = reported.pods?.get(uid);
    const usage = reported.pods ? ofRuntime?.usage : await cgroupUsage(tree, group);
    if (running.length === 0 && !usage) return undefined;
    const containers: ContainerUsage[] = [];
    for (const { id, name, logPath } of running) {
      const figures = reported.containers.get(id);
      if (!figures) continue;
      const status = [
        ...(pod.status?.containerStatuses ?? []),
        ...(pod.status?.initContainerStatuses ?? []),
        ...(pod.status?.ephemeralContainerStatuses ?? []),
      ].find((one) => one.name === name);
      containers.push({
        id,
        name,
        image: status?.image ?? "",
        startedAt: Date.parse(status?.state?.running?.startedAt ?? "") || clock.now(),
        cpu: cpu(id, Number(figures.cpu?.usageCoreNanoSeconds?.value ?? 0)),
        workingSetBytes: Number(figures.memory?.workingSetBytes?.value ?? 0),
        rootfs: {
          bytes: Number(figures.writableLayer?.usedBytes?.value ?? 0),
          inodes: Number(figures.writableLayer?.inodesUsed?.value ?? 0),
        },
        // All logs of the container: rotated ones, and those of its earlier attempts.
        logs: logPath === "" ? sumOfUsage([]) : await usageOfFilesIn(dirname(logPath)),
      });
    }
    const network = async (): Promise<readonly InterfaceUsage[]> => {
      if (reported.pods) return ofRuntime?.network ?? [];
      const pid = pod.spec.hostNetwork ? undefined : await firstProcess(group, running);
      return pid === undefined ? [] : await networkUsage(pid);
    };
    return {
      name: nameOf(pod),
      namespace: namespaceOf(pod),
      uid,
      group,
      startedAt: Date.parse(pod.status?.startTime ?? "") || clock.now(),
      cpu: cpu(group, usage?.cpuNanoseconds ?? containers.reduce((sum, one) => sum + one.cpu.nanoseconds, 0)),
      usage,
      network: await network(),
      containers,
      volumes: options.volumeMilliseconds > 0 ? await ofVolumes(pod, measured) : [],
      files: await usageOfPodFiles(join(options.rootDirectory, "pods", uid)),
    };
  }

  /** Returns a process of the pod, through which its network namespace is read. */
  async function firstProcess(
    group: string,
    containers: readonly { readonly id: string }[],
  ): Promise<number | undefined> {
    for (const { id } of containers) {
      const pid = Number.parseInt((await tree.read(`${group}/${id}`, "memory", "cgroup.procs")) ?? "", 10);
      if (pid > 0) return pid;
    }
    return undefined;
  }

  async function ofVolumes(pod: Pod, measured: Set<string>): Promise<VolumeUsage[]> {
    const figures: VolumeUsage[] = [];
    for (const [name, mounted] of options.volumesOf(uidOf(pod))) {
      const { hostPath, isDevice, isForeign, stats: ownStats } = mounted;
      const volume = pod.spec.volumes?.find((one) => one.name === name);
      // A host path may be anything, and large; the usage of a block device is unknown.
      if (!volume || isForeign || isDevice) continue;
      const claim =
        volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${nameOf(pod)}-${volume.name}`);
      measured.add(hostPath);
      const found = ownStats ? await measureOf(ownStats) : await meter.measure(hostPath);
      if (found)
        figures.push({
          name,
          used: found.used,
          filesystem: found.filesystem,
          isLocal:
            Boolean(volume.emptyDir && !volume.emptyDir.medium) ||
            Boolean(volume.configMap ?? volume.gitRepo),
          ...(claim !== undefined && { claim }),
        });
    }
    return figures;
  }

  /** Returns the stats reported by a volume's plugin; undefined if it fails. */
  async function measureOf(getStats: () => Promise<VolumeStats>): Promise<VolumeMeasure | undefined> {
    const reported = await getStats().catch(() => undefined);
    return (
      reported && {
        used: { bytes: reported.usedBytes, inodes: reported.inodesUsed },
        filesystem: { ...reported, freeBytes: reported.capacityBytes - reported.usedBytes },
      }
    );
  }

  async function ofImages(fallback: Filesystem): Promise<NodeStats["images"]> {
    const [info] = await runtime.imageFsInfo().catch(() => []);
    const mountpoint = info?.fsId?.mountpoint;
    return {
      filesystem: mountpoint ? await filesystemOf(mountpoint).catch(() => fallback) : fallback,
      used: { bytes: Number(info?.usedBytes?.value ?? 0), inodes: Number(info?.inodesUsed?.value ?? 0) },
    };
  }
}

/** Sums user, nice, system and interrupt time, without idle and iowait. */
function nodeNanoseconds(text: string): number {
  const n = (/^cpu\s+(.*)$/m.exec(text)?.[1] ?? "").split(/\s+/).map(Number);
  return ((n[0] ?? 0) + (n[1] ?? 0) + (n[2] ?? 0) + (n[5] ?? 0) + (n[6] ?? 0)) * tickNanoseconds;
}

/** Returns the usage of the hosts file and the termination message files in a pod's directory. */
async function usageOfPodFiles(podFolder: string): Promise<DiskUsage> {
  const containers = join(podFolder, "containers");
  const names = await readdir(containers).catch(() => []);
  const all = await Promise.all([
    usageOfFiles([join(podFolder, "etc-hosts")]),
    ...names.map((name) => usageOfFilesIn(join(containers, name))),
  ]);
  return sumOfUsage(all);
}

const usageOfFilesIn = async (folder: string): Promise<DiskUsage> =>
  await usageOfFiles((await readdir(folder).catch(() => [])).map((name) => join(folder, name)));

/** Sums up files of the agent; those that do not exist are left out. */
const usageOfFiles = async (paths: readonly string[]): Promise<DiskUsage> =>
  sumOfUsage(
    await Promise.all(
      paths.map((path) =>
        lstat(path).then(
          ({ blocks }) => ({ bytes: blocks * 512, inodes: 1 }),
          () => ({ bytes: 0, inodes: 0 }),
        ),
      ),
    ),
  );
