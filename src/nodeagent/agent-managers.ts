// Sets up the CPU, memory and topology managers from the settings.
import { type Metrics, createMetrics, parseQuantity, quantityMilliValue, quantityValue } from "#base";
import type { Dialect } from "#dialect";
import type { AgentDeps } from "./agent-parts.ts";
import type { CheckpointStore, PodRegistry } from "./interfaces.ts";
import { parseCpuSet } from "./managers/cpu-set.ts";
import { readTopology } from "./managers/cpu-topology.ts";
import { maxNumaNodes } from "./managers/numa.ts";
import {
  type Gates,
  cpuOptionsProblem,
  cpuPolicyOptions,
  topologyPolicyOptions,
} from "./managers/policy-options.ts";
import {
  type DeviceHints,
  type ResourceManagerMetrics,
  type ResourceManagers,
  resourceManagers,
} from "./managers/resource-managers.ts";
import type { NodeagentSettings } from "./options/options.ts";
import { checkpointStore } from "./resources/checkpoint-store.ts";

type ManagerDeps = Pick<AgentDeps, "settings" | "clock" | "log" | "machine" | "runtime" | "dialect">;

/** Rejects settings that the managers would reject on this machine. Changes nothing. */
export async function checkManagers(deps: ManagerDeps, enabled: Gates): Promise<void> {
  const { rootDir } = deps.settings;
  const store = { ...checkpointStore(rootDir), write: () => Promise.resolve() };
  const noPods = { pods: () => [] } as unknown as PodRegistry;
  await managersFrom(deps, {
    metrics: createMetrics(),
    enabled,
    registry: () => noPods,
    isRemoved: () => false,
    store,
  });
}

export async function managersFrom(
  { settings, clock, log, machine, runtime, dialect }: ManagerDeps,
  parts: {
    readonly metrics: Metrics;
    readonly enabled: Gates;
    readonly registry: () => PodRegistry;
    readonly isRemoved: (podUid: string) => boolean;
    readonly devices?: DeviceHints;
    /** The store of the state, by default in the agent's root directory. */
    readonly store?: CheckpointStore;
  },
): Promise<ResourceManagers> {
  const topology = await readTopology(machine.memoryBytes);
  const { preferClosest } = topologyPolicyOptions(settings.topologyManagerPolicyOptions, parts.enabled);
  if (settings.topologyManagerPolicy !== "none" && topology.numa.length > maxNumaNodes)
    throw new Error(
      `the topology manager is unsupported on machines with more than ${maxNumaNodes} NUMA nodes`,
    );
  const cpu = cpuFrom(settings, parts.enabled);
  const problem = cpu && cpuOptionsProblem(cpu.options, settings.topologyManagerPolicy, topology.cpu);
  if (problem) throw new Error(problem);
  return await resourceManagers({
    clock,
    log,
    runtime,
    registry: parts.registry,
    isRemoved: parts.isRemoved,
    store: parts.store ?? checkpointStore(settings.rootDir),
    directory: settings.rootDir,
    topology,
    cpu,
    reconcileMilliseconds: settings.cpuManagerReconcilePeriod,
    memory:
      settings.memoryManagerPolicy === "Static"
        ? { reserved: reservedMemoryOf(settings, new Set(topology.numa.map(({ id }) => id))) }
        : undefined,
    topologyPolicy: settings.topologyManagerPolicy,
    topologyScope: settings.topologyManagerScope,
    preferClosest,
    ...(parts.devices && { devices: parts.devices }),
    metrics: managerMetrics(parts.metrics, dialect),
  });
}

export function cpuFrom(
  settings: Pick<
    NodeagentSettings,
    "cpuManagerPolicy" | "cpuManagerPolicyOptions" | "reservedCpus" | "orchReserved" | "systemReserved"
  >,
  enabled: Gates,
) {
  const { cpuManagerPolicy, cpuManagerPolicyOptions } = settings;
  if (cpuManagerPolicy !== "static") {
    if (Object.keys(cpuManagerPolicyOptions).length > 0)
      throw new Error("the CPU manager policy none does not accept options");
    return undefined;
  }
  const reserved = settings.reservedCpus
    ? parseCpuSet(settings.reservedCpus)
    : Math.ceil(
        [settings.orchReserved, settings.systemReserved].reduce(
          (sum, { cpu = "0" }) => sum + quantityMilliValue(parseQuantity(cpu)),
          0,
        ) / 1000,
      );
  if (reserved === 0) throw new Error("the CPU manager policy static requires CPUs reserved for the system");
  return { reserved, options: cpuPolicyOptions(cpuManagerPolicyOptions, enabled) };
}

/**
 * Returns reserved bytes by NUMA node and memory type. Throws if nothing is reserved or a node does not
 * exist.
 */
export function reservedMemoryOf(
  { reservedMemory }: Pick<NodeagentSettings, "reservedMemory">,
  numaNodes: ReadonlySet<number>,
): ReadonlyMap<number, ReadonlyMap<string, number>> {
  if (reservedMemory.length === 0)
    throw new Error("the memory manager policy Static needs reserved memory per NUMA node");
  const reserved = new Map<number, Map<string, number>>();
  for (const { numaNode, limits } of reservedMemory) {
    if (!numaNodes.has(numaNode))
      throw new Error(`memory is reserved on NUMA node ${numaNode}, which this machine does not have`);
    const types = reserved.get(numaNode) ?? new Map<string, number>();
    for (const [type, amount] of Object.entries(limits))
      types.set(type, quantityValue(parseQuantity(amount)));
    reserved.set(numaNode, types);
  }
  return reserved;
}

function managerMetrics(metrics: Metrics, dialect: Dialect): ResourceManagerMetrics {
  const prefix = dialect.data.agentMetricPrefix;
  const counter = (name: string, help: string) =>
    metrics.counter({ name: `${prefix}${name}`, help, stability: "ALPHA" }).with();
  const requests = counter(
    "topology_manager_admission_requests_total",
    "Number of admission requests to the topology manager.",
  );
  const errors = counter(
    "topology_manager_admission_errors_total",
    "Number of admission requests rejected by the topology manager.",
  );
  const pins = counter(
    "cpu_manager_pinning_requests_total",
    "Number of exclusive CPU allocations requested by containers.",
  );
  const pinErrors = counter(
    "cpu_manager_pinning_errors_total",
    "Number of exclusive CPU allocations that failed.",
  );
  const took = metrics
    .histogram({
      name: `${prefix}topology_manager_admission_duration_ms`,
      help: "Duration of topology manager admissions in milliseconds.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384],
      stability: "ALPHA",
    })
    .with();
  return {
    pinning: (isGood) => {
      pins.add();
      if (!isGood) pinErrors.add();
    },
    admitted: (milliseconds, isGood) => {
      requests.add();
      if (!isGood) errors.add();
      took.observe(milliseconds);
    },
  };
}
