// Concise constructors of machines and pods, for tests of the resource managers.
import type { Pod } from "#api";
import { type CpuTopology, cpuTopology } from "./cpu-topology.ts";

/** Two sockets, one NUMA node each, four cores of two threads: CPU n and n + 8 share a core. */
export const twoSockets: CpuTopology = cpuTopology(
  Array.from({ length: 16 }, (_, cpu) => ({
    cpu,
    core: cpu % 8,
    socket: cpu % 8 < 4 ? 0 : 1,
    numaNode: cpu % 8 < 4 ? 0 : 1,
  })),
);

interface Wanted {
  readonly name: string;
  readonly cpu?: string;
  readonly memory?: string;
}

/** The pod is Guaranteed if all amounts are given. */
export function podOf(uid: string, containers: readonly Wanted[], init: readonly Wanted[] = []): Pod {
  const specs = (all: readonly Wanted[]) =>
    all.map(({ name, cpu, memory }) => {
      const amounts = { ...(cpu && { cpu }), ...(memory && { memory }) };
      return { name, resources: { requests: amounts, limits: amounts } };
    });
  return {
    metadata: { name: uid, namespace: "default", uid },
    spec: { containers: specs(containers), initContainers: specs(init) },
    status: {},
  } as unknown as Pod;
}
