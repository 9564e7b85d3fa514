// The control groups of pods: one each, below the group of their QoS class, with the limits of the whole pod.
import { kill } from "node:process";
import { type Pod, runningContainers } from "#api";
import { type Clock, type Log, parseQuantity, quantityMilliValue, quantityValue } from "#base";
import { type CpuSettings, quotaOf, sharesOf } from "../plan/amounts.ts";
import { type ResourceKind, podOverhead, podResource } from "../plan/pod-resources.ts";
import { type QosClass, qosClass } from "../plan/qos.ts";
import { containersOf, initContainersOf, uidOf } from "../pod.ts";
import type { PodCgroups } from "../interfaces.ts";
import { type CgroupNaming, classCgroup, podCgroup, podsCgroup, uidOfGroup } from "./cgroup-names.ts";
import type { CgroupLimits, CgroupTree } from "./cgroup-tree.ts";
import { resizeCgroup } from "./resize-cgroup.ts";
import type { SystemdSlices } from "./systemd-slices.ts";

export interface PodCgroupsOptions {
  readonly tree: CgroupTree;
  readonly naming: CgroupNaming;
  /** With the systemd driver: starts and stops slice units. */
  readonly slices?: SystemdSlices | undefined;
  readonly cpu: CpuSettings;
  /** 0 or less means unlimited. */
  readonly pidsPerPod: number;
  /** Whether groups per QoS class and per pod exist at all. */
  readonly perPod: boolean;
  /**
   * Percentage of the memory requested by higher QoS classes that lower ones must leave alone; 0 disables it.
   */
  readonly memoryReservedPercent?: number;
  /** Returns the admitted pods that have not finished, from which the shares of QoS classes are computed. */
  readonly admitted: () => readonly Pod[];
  /** Returns the memory allocatable to pods. */
  readonly allocatableMemory?: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RunningPodCgroups extends PodCgroups {
  /** Creates the groups of all pods and of the QoS classes. */
  prepare(): Promise<void>;
  /** Returns the group of one pod, with the leading slash. */
  nameOf(pod: Pod): string;
  readonly podsGroup: string;
  /**
   * Periodically updates the limits of the QoS classes once all pods are known, until the signal is aborted.
   */
  reconcile(isKnown: () => boolean, signal: AbortSignal): Promise<void>;
}

const classes: readonly QosClass[] = ["Guaranteed", "Burstable", "BestEffort"];
const firstReconcileMilliseconds = 5000;
const reconcileMilliseconds = 60_000;
const removalTries = 10;
const removalPauseMilliseconds = 50;

export function podCgroups(options: PodCgroupsOptions): RunningPodCgroups {
  const { tree, naming, cpu, clock, log } = options;
  const made = new Map<string, QosClass>();
  const nameOf = (pod: Pod): string =>
    options.perPod ? podCgroup(naming, qosClass(pod), uidOf(pod)) : naming.root;
  return {
    podsGroup: podsCgroup(naming),
    nameOf,
    prepare: async () => {
      if (!options.perPod) return;
      await options.slices?.start(podsCgroup(naming));
      await tree.make(podsCgroup(naming));
      for (const qos of ["Burstable", "BestEffort"] as const) {
        // The shares of a group made by an earlier agent are kept until all pods are known again.
        if (await tree.exists(classCgroup(naming, qos))) continue;
        await options.slices?.start(classCgroup(naming, qos));
        await tree.make(classCgroup(naming, qos));
        await tree.limit(classCgroup(naming, qos), { cpuShares: sharesOf(0) });
      }
    },
    ensure: async (pod) => {
      const name = nameOf(pod);
      if (!options.perPod || made.has(uidOf(pod))) return name;
      await options.slices?.start(name);
      await tree.make(name);
      const limits = podLimits(pod, cpu);
      await tree.limit(name, { ...limits, ...(options.pidsPerPod > 0 && { pids: options.pidsPerPod }) });
      made.set(uidOf(pod), qosClass(pod));
      if (qosClass(pod) !== "BestEffort") await updateQosWeights();
      return name;
    },
    resize: async (pod, resource, when) => {
      if (!options.perPod) return;
      await resizeCgroup(tree, nameOf(pod), { limits: podLimits(pod, cpu), resource, when });
      if (when === "after" && resource === "cpu" && qosClass(pod) === "Burstable") await updateQosWeights();
    },
    release: async (uid) => {
      if (!options.perPod) return;
      const known = made.get(uid);
      for (const qos of known ? [known] : classes) await remove(podCgroup(naming, qos, uid));
      if (made.delete(uid) && known !== "BestEffort") await updateQosWeights(uid);
    },
    reconcile: async (isKnown, signal) => {
      for (let wait = firstReconcileMilliseconds; !signal.aborted; wait = reconcileMilliseconds) {
        await clock.sleep(wait, signal).catch(() => undefined);
        if (signal.aborted || !options.perPod) return;
        if (!isKnown()) continue;
        await updateQosWeights().catch((error: Error) =>
          log.error("failed to set weights of QoS classes", { error: error.message }),
        );
      }
    },
    podUids: async () => {
      const uids = new Set<string>();
      if (!options.perPod) return uids;
      for (const qos of classes) {
        for (const last of await tree.below(classCgroup(naming, qos))) {
          const uid = uidOfGroup(naming, last);
          if (uid !== undefined) uids.add(uid);
        }
      }
      return uids;
    },
  };

  /** Updates shares and memory limits of the QoS classes; the pod `gone` no longer counts. */
  async function updateQosWeights(gone?: string): Promise<void> {
    const pods = options.admitted().filter((pod) => uidOf(pod) !== gone);
    const requested = (qos: QosClass, of: (pod: Pod) => number): number =>
      pods.reduce((sum, pod) => sum + (qosClass(pod) === qos ? of(pod) : 0), 0);
    const milliCpu = requested("Burstable", requestedMilliCpu);
    await tree.limit(classCgroup(naming, "Burstable"), { cpuShares: sharesOf(milliCpu) });
    const percent = options.memoryReservedPercent ?? 0;
    const allocatable = options.allocatableMemory?.() ?? 0;
    if (percent === 0 || allocatable === 0) return;
    const memory = (pod: Pod): number => total(pod, "requests", "memory");
    const burstable = Math.max(
      0,
      allocatable - Math.trunc((requested("Guaranteed", memory) * percent) / 100),
    );
    const bestEffort = Math.max(0, burstable - Math.trunc((requested("Burstable", memory) * percent) / 100));
    await tree.limit(classCgroup(naming, "Burstable"), { memoryBytes: burstable }).catch(onBusy);
    await tree.limit(classCgroup(naming, "BestEffort"), { memoryBytes: bestEffort }).catch(onBusy);
  }

  /** Logs a failed limit: the kernel rejects a memory limit below the current usage. */
  function onBusy(error: Error): void {
    log.warn("memory in use exceeds the QoS limit; limit not set yet", { error: error.message });
  }

  async function remove(name: string): Promise<void> {
    for (let tries = 0; tries < removalTries; tries++) {
      if (await tree.remove(name)) {
        await options.slices?.stop(name);
        return;
      }
      for (const pid of await tree.processes(name)) end(pid);
      await clock.sleep(removalPauseMilliseconds * (tries + 1));
    }
    log.warn("failed to remove cgroup", { group: name });
    throw new Error(`the control group ${name} could not be removed: a process in it does not exit`);
  }
}

function end(pid: number): void {
  if (pid <= 1 || pid === process.pid) return;
  try {
    kill(pid, "SIGKILL");
  } catch {
    // The process exited by itself.
  }
}

export const milli = (amount: string | undefined): number =>
  amount === undefined ? 0 : quantityMilliValue(parseQuantity(amount));
export const whole = (amount: string | undefined): number =>
  amount === undefined ? 0 : quantityValue(parseQuantity(amount));

/** Returns the cgroup limits of one pod. CPU and memory are limited only if every container has a limit. */
export function podLimits(pod: Pod, cpu: CpuSettings): CgroupLimits {
  const qos = qosClass(pod);
  const hugepages = hugepagesOf(pod);
  const pages = Object.keys(hugepages).length > 0 ? { hugepages } : {};
  if (qos === "BestEffort") return { cpuShares: sharesOf(0), ...pages };
  const every = [...containersOf(pod), ...initContainersOf(pod)];
  const limitsCpu = every.every(({ resources }) => milli(resources?.limits?.["cpu"]) > 0);
  const limitsMemory = every.every(({ resources }) => whole(resources?.limits?.["memory"]) > 0);
  const cpuLimit = total(pod, "limits", "cpu");
  return {
    cpuShares: sharesOf(requestedMilliCpu(pod)),
    ...(limitsCpu && {
      cpuPeriod: cpu.periodMicroseconds,
      cpuQuota: cpu.quota ? quotaOf(cpuLimit, cpu.periodMicroseconds) : -1,
    }),
    ...(limitsMemory && { memoryBytes: total(pod, "limits", "memory") }),
    ...pages,
  };
}

const requestedMilliCpu = (pod: Pod): number => total(pod, "requests", "cpu");

/** Includes the pod overhead; in limits only if the containers have one. */
function total(pod: Pod, kind: ResourceKind, name: string): number {
  const own = podResource(pod, kind, name);
  return kind === "requests" || own > 0 ? own + podOverhead(pod, name) : own;
}

function hugepagesOf(pod: Pod): Record<string, number> {
  const names = new Set(
    runningContainers(pod.spec).flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter((name) => name.startsWith("hugepages-")),
    ),
  );
  return Object.fromEntries(
    [...names].map((name) => [
      kernelSize(whole(name.slice("hugepages-".length))),
      total(pod, "requests", name),
    ]),
  );
}

function kernelSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && size % 1024 === 0; unit++) size /= 1024;
  return `${size}${units[unit] ?? ""}`;
}
