// Combines the CPU, memory and topology managers: admits pods, sets the cpusets of containers, and keeps the
// state in files in the kubelet's format.
import { join } from "node:path";
import type { Container, Pod } from "#api";
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type {
  Admitted,
  CheckpointStore,
  ContainerContribution,
  ContainerContributor,
  PodAdmitHandler,
  PodRegistry,
} from "../interfaces.ts";
import { containersOf, initContainersOf, uidOf } from "../pod.ts";
import type { MemoryBlock } from "./checkpoints.ts";
import {
  type CpuPolicy,
  type CpuPolicyOptions,
  type CpuState,
  cpuCheckpointOf,
  cpuPolicy,
  cpuStateOf,
  cpuStateProblem,
  exclusiveCpus,
} from "./cpu-policy.ts";
import { type CpuSet, formatCpuSet, noCpus } from "./cpu-set.ts";
import type { MachineTopology } from "./cpu-topology.ts";
import { AllocationError, type HintProvider } from "./hint-provider.ts";
import {
  type MemoryState,
  type ReservedMemory,
  freshMachine,
  memoryPolicy,
  memoryStateProblem,
  releaseEndedInit,
} from "./memory-policy.ts";
import { type ProviderHints, type TopologyHint, type TopologyPolicy, chooseTopology } from "./numa.ts";
import {
  type StateFile,
  cpuStateName,
  memoryStateName,
  readCpuState,
  readMemoryState,
  stateFileError,
  writeCpuState,
  writeMemoryState,
} from "./state-files.ts";

/** The device manager's part in topology decisions. It allocates the devices itself. */
export interface DeviceHints {
  hints(pod: Pod, container: Container): ProviderHints | null;
  podHints(pod: Pod): ProviderHints | null;
  /** Reserves the container's devices. Throws AllocationError if there are too few. */
  reserve(pod: Pod, container: Container, hint: TopologyHint): void;
  /** Drops the reservations of a pod that is not admitted. */
  abandon(podUid: string): void;
  /** Returns the UIDs of pods with devices. */
  podUids(): readonly string[];
  /** Frees all devices of a pod. */
  free(podUid: string): void;
}

export interface ResourceManagersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: Pick<ContainerRuntime, "updateContainerResources">;
  readonly registry: () => PodRegistry;
  /** Reports whether neither a source nor the runtime knows the pod. False until all sources are ready. */
  readonly isRemoved: (podUid: string) => boolean;
  readonly store: CheckpointStore;
  /** Directory of the store, for error messages. */
  readonly directory: string;
  readonly topology: MachineTopology;
  /** Undefined for the policy none. */
  readonly cpu: { readonly reserved: CpuSet | number; readonly options: CpuPolicyOptions } | undefined;
  readonly reconcileMilliseconds: number;
  /** Undefined for the policy None. */
  readonly memory: { readonly reserved: ReservedMemory } | undefined;
  readonly topologyPolicy: TopologyPolicy;
  readonly topologyScope: "container" | "pod";
  readonly preferClosest: boolean;
  readonly devices?: DeviceHints;
  readonly metrics?: ResourceManagerMetrics;
}

export interface ResourceManagerMetrics {
  pinning(isGood: boolean): void;
  admitted(milliseconds: number, isGood: boolean): void;
}

export interface ResourceManagers extends PodAdmitHandler, ContainerContributor {
  /** Returns the exclusive CPUs of a container. */
  exclusive(podUid: string, container: string): CpuSet;
  memoryBlocks(podUid: string, container: string): readonly MemoryBlock[];
  /** Returns the CPUs and memory that can be allocated exclusively, in total. */
  allocatable(): { readonly cpus: CpuSet; readonly memory: readonly MemoryBlock[] };
  /** Reconciles the cpusets of containers until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const anywhere: TopologyHint = { nodes: undefined, preferred: false };

/** Restores or initializes the state. Rejects if the existing state cannot be used. */
export async function resourceManagers(options: ResourceManagersOptions): Promise<ResourceManagers> {
  const { clock, log, runtime, store, topology } = options;
  const cpu = options.cpu && cpuPolicy(topology.cpu, options.cpu.reserved, options.cpu.options);
  let cpus = await initialCpus(options, cpu);
  let memory = await initialMemory(options);
  await save();
  let saving = Promise.resolve();
  let lastAdmitted: string | undefined;
  let isLastRemoved = false;
  /** The cpuset last applied in the runtime, by container ID. */
  const applied = new Map<string, string>();
  const numa = {
    nodes: topology.numa.map(({ id }) => id),
    distances: new Map(topology.numa.map(({ id, distances }) => [id, distances])),
    preferClosest: options.preferClosest,
  };

  return {
    admit,
    contribute,
    created: (pod, container, containerId) => {
      if (cpu) applied.set(containerId, formatCpuSet(cpusFor(uidOf(pod), container.name)));
      const before = memory;
      memory = releaseEndedInit(memory, pod, container);
      if (memory !== before) void saveSoon();
    },
    release: (podUid) => {
      if (podUid === lastAdmitted) isLastRemoved = true;
      else free(podUid);
    },
    exclusive: (podUid, container) => cpus.assignments.get(podUid)?.get(container) ?? noCpus,
    memoryBlocks: (podUid, container) => memory.assignments.get(podUid)?.get(container) ?? [],
    allocatable: () => ({
      cpus: cpu?.allocatable ?? noCpus,
      memory: Object.entries(memory.machine).flatMap(([node, { memoryMap }]) =>
        Object.entries(memoryMap)
          .filter(([, { allocatable }]) => allocatable > 0)
          .map(([type, { allocatable }]) => ({ numaAffinity: [Number(node)], type, size: allocatable })),
      ),
    }),
    run,
  };

  function free(podUid: string): void {
    const before = { cpus, memory };
    if (cpu) cpus = cpu.release(cpus, podUid);
    memory = memoryPolicy.release(memory, podUid);
    options.devices?.free(podUid);
    if (before.cpus !== cpus || before.memory !== memory) void saveSoon();
  }

  /** Frees the resources of pods that were removed while no agent was running. */
  function freeRemoved(except: string | undefined): void {
    const holders = [cpus.assignments, memory.assignments].flatMap((assigned) => [...assigned.keys()]);
    for (const uid of new Set([...holders, ...(options.devices?.podUids() ?? [])]))
      if (uid !== except && options.isRemoved(uid)) free(uid);
  }

  /**
   * Frees the resources of removed pods. Like in the kubelet, those of the last admitted pod are freed only
   * now.
   */
  function freeStale(podUid: string): void {
    if (isLastRemoved && lastAdmitted !== undefined) free(lastAdmitted);
    freeRemoved(podUid);
    lastAdmitted = podUid;
    isLastRemoved = false;
  }

  function admit(pod: Pod): Admitted {
    const startedAt = clock.monotonic();
    try {
      freeStale(uidOf(pod));
      allocate(pod);
      options.metrics?.admitted(clock.monotonic() - startedAt, true);
      return { ok: true };
    } catch (error) {
      options.devices?.abandon(uidOf(pod));
      if (!(error instanceof AllocationError)) throw error;
      options.metrics?.admitted(clock.monotonic() - startedAt, false);
      const { reason, message } = error;
      const text =
        reason === "UnexpectedAdmissionError"
          ? `Allocate failed due to ${message}, which is unexpected`
          : message;
      return { ok: false, reason, message: text };
    }
  }

  /**
   * Allocates for all containers of the pod or for none: the new state is kept only if every allocation
   * succeeds.
   */
  function allocate(pod: Pod): void {
    let trial = { cpus, memory };
    const scope = options.topologyScope === "pod" ? "pod" : "container";
    const policy = options.topologyPolicy;
    const podHint = policy !== "none" && scope === "pod" ? hintFor(trial, pod) : undefined;
    for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
      const hint = policy === "none" ? anywhere : (podHint ?? hintFor(trial, pod, container));
      if (cpu) trial = { ...trial, cpus: pinned(cpu, trial.cpus, pod, container, hint) };
      if (options.memory)
        trial = { ...trial, memory: memoryPolicy.allocate(trial.memory, pod, container, hint) };
      options.devices?.reserve(pod, container, hint);
    }
    const isChanged = trial.cpus.assignments !== cpus.assignments || trial.memory !== memory;
    ({ cpus, memory } = trial);
    if (isChanged) void saveSoon();
  }

  function pinned(
    policy: CpuPolicy,
    state: CpuState,
    pod: Pod,
    container: Container,
    hint: TopologyHint,
  ): CpuState {
    const isPinned = exclusiveCpus(pod, container) > 0;
    try {
      const after = policy.allocate(state, pod, container, hint);
      if (isPinned) options.metrics?.pinning(true);
      return after;
    } catch (error) {
      options.metrics?.pinning(false);
      throw error;
    }
  }

  function hintFor(
    state: { readonly cpus: CpuState; readonly memory: MemoryState },
    pod: Pod,
    container?: Container,
  ): TopologyHint {
    const hintsFrom = <State>(provider: HintProvider<State>, of: State): ProviderHints | null =>
      container ? provider.hints(of, pod, container) : provider.podHints(of, pod);
    const providers = [
      ...(cpu ? [hintsFrom(cpu, state.cpus)] : []),
      ...(options.memory ? [hintsFrom(memoryPolicy, state.memory)] : []),
      ...(options.devices
        ? [container ? options.devices.hints(pod, container) : options.devices.podHints(pod)]
        : []),
    ];
    const { hint, admit: isAdmitted } = chooseTopology(options.topologyPolicy, providers, numa);
    if (!isAdmitted)
      throw new AllocationError(
        "Resources cannot be allocated with Topology locality",
        "TopologyAffinityError",
      );
    return hint;
  }

  async function contribute(pod: Pod, container: Container): Promise<ContainerContribution> {
    await saving;
    const mems = new Set(
      (memory.assignments.get(uidOf(pod))?.get(container.name) ?? []).flatMap((block) => block.numaAffinity),
    );
    return {
      resources: {
        ...(cpu && { cpusetCpus: formatCpuSet(cpusFor(uidOf(pod), container.name)) }),
        ...(mems.size > 0 && { cpusetMems: formatCpuSet(mems) }),
      },
    };
  }

  /** Returns a container's exclusive CPUs, or the shared pool. */
  function cpusFor(podUid: string, container: string): CpuSet {
    return cpus.assignments.get(podUid)?.get(container) ?? cpus.shared;
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (!cpu) return;
    while (!signal.aborted) {
      await clock.sleep(options.reconcileMilliseconds, signal).catch(() => undefined);
      if (!signal.aborted) await reconcile(signal);
    }
  }

  /** Updates the cpusets of running containers, which change with the shared pool. */
  async function reconcile(signal: AbortSignal): Promise<void> {
    freeRemoved(lastAdmitted);
    const registry = options.registry();
    const seen = new Set<string>();
    for (const pod of registry.pods())
      for (const { id, name, state } of registry.containers(uidOf(pod))) {
        if (state !== "running") continue;
        seen.add(id);
        const wanted = formatCpuSet(cpusFor(uidOf(pod), name));
        if (wanted === "" || applied.get(id) === wanted) continue;
        try {
          await runtime.updateContainerResources(id, { cpusetCpus: wanted }, signal);
          applied.set(id, wanted);
        } catch (error) {
          if (signal.aborted) return;
          log.warn("failed to update the cpuset of a container", {
            container: name,
            id,
            error: (error as Error).message,
          });
        }
      }
    for (const id of applied.keys()) if (!seen.has(id)) applied.delete(id);
  }

  function saveSoon(): Promise<void> {
    saving = saving.then(save).catch((error: unknown) => {
      log.error("failed to save the state of the resource managers", { error: (error as Error).message });
    });
    return saving;
  }

  async function save(): Promise<void> {
    await writeCpuState(store, cpuCheckpointOf(cpus, cpu ? "static" : "none"));
    await writeMemoryState(store, {
      policyName: options.memory ? "Static" : "None",
      machineState: memory.machine,
      entries: Object.fromEntries([...memory.assignments].map(([uid, of]) => [uid, Object.fromEntries(of)])),
    });
  }
}

async function initialCpus(
  { store, directory, topology }: ResourceManagersOptions,
  policy: CpuPolicy | undefined,
): Promise<CpuState> {
  const file = { manager: "CPU", path: join(directory, cpuStateName) } as const;
  const found = await readCpuState(store, policy ? "static" : "none", file);
  if (!policy) return { shared: noCpus, assignments: new Map(), reusable: undefined };
  if (!found) return { shared: topology.cpu.cpus, assignments: new Map(), reusable: undefined };
  return checkedState(file, () => {
    const state = cpuStateOf(found);
    return { state, problem: cpuStateProblem(state, policy.reserved, topology.cpu) };
  });
}

async function initialMemory({
  store,
  directory,
  topology,
  memory,
}: ResourceManagersOptions): Promise<MemoryState> {
  const file = { manager: "memory", path: join(directory, memoryStateName) } as const;
  const found = await readMemoryState(store, memory ? "Static" : "None", file);
  if (!memory) return { machine: {}, assignments: new Map(), reusable: undefined };
  const fresh = freshMachine(topology.numa, memory.reserved);
  if (!found) return { machine: fresh, assignments: new Map(), reusable: undefined };
  return checkedState(file, () => {
    const state: MemoryState = {
      machine: found.machineState,
      assignments: new Map(
        Object.entries(found.entries).map(([uid, of]) => [uid, new Map(Object.entries(of))]),
      ),
      reusable: undefined,
    };
    return { state, problem: memoryStateProblem(state, fresh) };
  });
}

/** Files without a checksum may have any content. */
function checkedState<T>(
  file: StateFile,
  restore: () => { readonly state: T; readonly problem: string | undefined },
): T {
  let restored: ReturnType<typeof restore>;
  try {
    restored = restore();
  } catch (error) {
    throw stateFileError(file, (error as Error).message);
  }
  if (restored.problem) throw stateFileError(file, restored.problem);
  return restored.state;
}
