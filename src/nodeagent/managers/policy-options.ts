// Options of the CPU manager and topology manager policies, and their feature gates.
import type { CpuPolicyOptions } from "./cpu-policy.ts";
import type { CpuTopology } from "./cpu-topology.ts";

export type Gates = (name: string) => boolean;
type Given = Readonly<Record<string, string>>;

const cpuOptions: Readonly<Record<string, keyof CpuPolicyOptions>> = {
  "full-pcpus-only": "fullCoresOnly",
  "distribute-cpus-across-numa": "distributeAcrossNuma",
  "align-by-socket": "alignBySocket",
};
const betaCpuOptions = new Set(["full-pcpus-only"]);

/** Parses options; throws on unknown, gated or non-boolean ones. */
export function cpuPolicyOptions(given: Given, enabled: Gates): CpuPolicyOptions {
  const options = { fullCoresOnly: false, distributeAcrossNuma: false, alignBySocket: false };
  for (const [name, value] of Object.entries(given)) {
    const key = cpuOptions[name];
    if (!key) throw new Error(`unknown CPU Manager Policy option: ${JSON.stringify(name)}`);
    const stage = betaCpuOptions.has(name) ? "Beta" : "Alpha";
    if (!enabled(`CPUManagerPolicy${stage}Options`))
      throw new Error(
        `CPU Manager Policy ${stage}-level Options not enabled, but option ${JSON.stringify(name)} provided`,
      );
    options[key] = booleanOf(name, value);
  }
  return options;
}

/**
 * Returns why the options are incompatible with the topology policy or the machine; undefined if they are
 * not.
 */
export function cpuOptionsProblem(
  { alignBySocket }: CpuPolicyOptions,
  topologyPolicy: string,
  { sockets, numaNodes }: CpuTopology,
): string | undefined {
  if (!alignBySocket) return undefined;
  if (topologyPolicy === "single-numa-node")
    return "the topology manager policy single-numa-node is incompatible with the CPU manager policy option align-by-socket";
  return sockets > numaNodes.length
    ? "the CPU manager policy option align-by-socket is not compatible with more sockets than NUMA nodes"
    : undefined;
}

export function topologyPolicyOptions(given: Given, enabled: Gates): { readonly preferClosest: boolean } {
  let preferClosest = false;
  for (const [name, value] of Object.entries(given)) {
    if (name !== "prefer-closest-numa-nodes")
      throw new Error(`unknown Topology Manager Policy option: ${JSON.stringify(name)}`);
    if (!enabled("TopologyManagerPolicyAlphaOptions"))
      throw new Error(
        `Topology Manager Policy Alpha-level Options not enabled, but option ${JSON.stringify(name)} provided`,
      );
    preferClosest = booleanOf(name, value);
  }
  return { preferClosest };
}

function booleanOf(name: string, value: string): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
  throw new Error(`bad value for option ${JSON.stringify(name)}: ${JSON.stringify(value)} is not a boolean`);
}
