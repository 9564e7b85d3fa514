// Adapters from recorded tables (input, output) of the node agent's pure rules to the functions under test,
// one per table and named like it. scripts/replay/node-tables.mjs imports this file.
import { createPrivateKey } from "node:crypto";
import type { Pod } from "#api";
import { formatQuantity, parseQuantity, quantityValue } from "#base";
import { dialectNamed } from "#dialect";
import { parseConfigFile } from "#options";
import { requestName } from "./certificates/signing-request.ts";
import { imageMatches, parseLocation } from "./credentials/image-pattern.ts";
import { credentialsFor } from "./credentials/keyring.ts";
import { cacheKeyOf, parseResponse } from "./credentials/provider-response.ts";
import { rank } from "./eviction/rank.ts";
import { parseThresholds, type Signal, type ThresholdValue } from "./eviction/thresholds.ts";
import type { MeasuredPod } from "./eviction/usage.ts";
import {
  type CpuCheckpoint,
  type DeviceCheckpoint,
  type MemoryCheckpoint,
  cpuCheckpointText,
  cpuPreimage,
  deviceCheckpointText,
  devicePreimage,
  memoryCheckpointText,
  memoryPreimage,
} from "./managers/checkpoints.ts";
import { formatCpuSet, parseCpuSet } from "./managers/cpu-set.ts";
import { cpuTopology } from "./managers/cpu-topology.ts";
import { chooseTopology, maskOf, nodesOf, type ProviderHints, type TopologyPolicy } from "./managers/numa.ts";
import { takeDistributed, takePacked } from "./managers/take-cpus.ts";
import { credentialProvidersFrom } from "./options/credential-providers.ts";
import type { PriorityGrace } from "./options/types.ts";
import { type EvictionRow, evictionOverTime } from "./recorded-timelines.fixture.ts";
import { inhibitSeconds, shutdownPlan as planOf, shutdownSteps } from "./shutdown/plan.ts";

const dialect = dialectNamed("kubernetes")!;
type Texts = Readonly<Record<string, string>>;

export function evictionThresholds(row: {
  readonly hard: Texts;
  readonly soft: Texts;
  readonly softGrace: Texts;
  readonly minReclaim: Texts;
  readonly alloc: readonly string[];
}): unknown {
  const { hard, soft, softGrace, minReclaim: minimumReclaim, alloc } = row;
  return parseThresholds({ hard, soft, softGrace, minimumReclaim, enforcePods: alloc.includes("pods") })
    .map((threshold) => ({
      graceSeconds: threshold.graceMilliseconds / 1000,
      ...(threshold.minimumReclaim && { minReclaim: shown(threshold.minimumReclaim) }),
      operator: "LessThan",
      signal: threshold.signal,
      value: shown(threshold.value),
    }))
    .toSorted((a, b) =>
      a.signal === b.signal ? a.graceSeconds - b.graceSeconds : a.signal < b.signal ? -1 : 1,
    );
}

function shown(value: ThresholdValue): unknown {
  if ("quantity" in value) return { quantity: formatQuantity(value.quantity) };
  return { percentage: Number.isNaN(value.percentage) ? "NaN" : Number(value.percentage.toPrecision(7)) };
}

interface RecordedPod {
  readonly name: string;
  readonly priority?: number;
  readonly memReq?: string;
  readonly memLim?: string;
  readonly ephReq?: string;
  readonly ephLim?: string;
  readonly sizeLimit?: string;
  readonly workingSet?: string;
  readonly procs?: number;
  readonly ephTotal?: string;
  readonly rootfs?: string;
  readonly rootfsInodes?: string;
  readonly logs?: string;
  readonly logsInodes?: string;
  readonly volume?: string;
  readonly volInodes?: string;
}

export const evictionRank = (row: {
  readonly signal: Signal;
  readonly pods: readonly RecordedPod[];
  readonly imageFs: boolean;
}): unknown => rank(row.signal, row.pods.map(measured), row.imageFs).map(({ pod }) => pod.metadata.name);

export const evictionTimeline = (
  row: EvictionRow & { readonly pods?: readonly RecordedPod[] },
): Promise<unknown> => evictionOverTime(row, (row.pods ?? []).map(measured));
export { imageGc } from "./recorded-timelines.fixture.ts";

const number = (text: string | undefined): number =>
  text === undefined ? 0 : quantityValue(parseQuantity(text));
const amounts = (memory: string | undefined, storage: string | undefined): Texts => ({
  ...(memory !== undefined && { memory }),
  ...(storage !== undefined && { "ephemeral-storage": storage }),
});

function measured(row: RecordedPod): MeasuredPod {
  const resources = {
    requests: amounts(row.memReq, row.ephReq),
    limits: amounts(row.memLim, row.ephLim),
  };
  const pod = {
    metadata: { name: row.name, namespace: "ns", uid: row.name },
    spec: {
      priority: row.priority,
      volumes: [{ name: "v", emptyDir: row.sizeLimit === undefined ? {} : { sizeLimit: row.sizeLimit } }],
      containers: [{ name: "c", resources }],
    },
    status: { phase: "Running" },
  } as unknown as Pod;
  const usage = {
    workingSetBytes: number(row.workingSet),
    processes: row.procs ?? 0,
    ephemeralBytes: number(row.ephTotal),
    containers: [
      {
        name: "c",
        workingSetBytes: number(row.workingSet),
        rootfs: { bytes: number(row.rootfs), inodes: number(row.rootfsInodes) },
        logs: { bytes: number(row.logs), inodes: number(row.logsInodes) },
      },
    ],
    volumes: [
      { name: "v", isLocal: true, used: { bytes: number(row.volume), inodes: number(row.volInodes) } },
    ],
    files: { bytes: 0, inodes: 0 },
  };
  return { pod, usage };
}

export function cpuTake(
  row: {
    readonly topology: string;
    readonly available: string;
    readonly count: number;
    readonly mode: "packed" | "distributed";
    readonly groupSize: number;
  },
  { topologies }: { readonly topologies: Readonly<Record<string, readonly (readonly number[])[]>> },
): unknown {
  const topology = cpuTopology(
    topologies[row.topology]!.map(([cpu, socket, core, numaNode]) => ({
      cpu: cpu!,
      socket: socket!,
      core: core!,
      numaNode: numaNode!,
    })),
  );
  const available = parseCpuSet(row.available);
  return formatCpuSet(
    row.mode === "packed"
      ? takePacked(topology, available, row.count)
      : takeDistributed(topology, available, row.count, row.groupSize),
  );
}

interface RecordedHint {
  readonly nodes: readonly number[] | null;
  readonly preferred: boolean;
}
export function topologyMerge(row: {
  readonly policy: TopologyPolicy;
  readonly numaNodes: readonly number[];
  readonly distances: readonly (readonly number[])[];
  readonly preferClosest: boolean;
  readonly providers: readonly (Readonly<Record<string, readonly RecordedHint[] | null>> | null)[];
}): unknown {
  const hints = (list: readonly RecordedHint[] | null): ProviderHints[string] =>
    list && list.map(({ nodes, preferred }) => ({ nodes: nodes ? maskOf(nodes) : undefined, preferred }));
  const providers = row.providers.map(
    (provider) =>
      provider && Object.fromEntries(Object.entries(provider).map(([name, list]) => [name, hints(list)])),
  );
  const { hint, admit } = chooseTopology(row.policy, providers, {
    nodes: row.numaNodes,
    distances: new Map(row.numaNodes.map((node, at) => [node, row.distances[at]!])),
    preferClosest: row.preferClosest,
  });
  const nodes = hint.nodes === undefined ? null : nodesOf(hint.nodes);
  return { hint: { nodes, preferred: hint.preferred }, admit };
}

export function imageMatch({
  pattern,
  image,
}: {
  readonly pattern: string;
  readonly image: string;
}): unknown {
  if (!parseLocation(pattern) || !parseLocation(image)) throw new Error("no place of an image");
  return imageMatches(pattern, image);
}

export function keyringLookup(row: { readonly config: Texts; readonly images: readonly string[] }): unknown {
  const auths = Object.entries(row.config).map(([place, username]) => [place, { username }] as const);
  const usersOf = (image: string): unknown[] =>
    credentialsFor(image, [auths]).map(({ username }) => username);
  return Object.fromEntries(row.images.map((image) => [image, usersOf(image)]));
}

const defaultCacheMilliseconds = 60_000;
const requestedImage = "r.example/a";

export function credentialResponse(row: {
  readonly apiVersion: string;
  readonly stdout: string;
  readonly exit: number;
}): unknown {
  const nothing = (error: string | undefined): unknown => ({
    cachedKeys: [],
    decoded: null,
    providedEntries: 0,
    error,
  });
  if (row.exit !== 0) return nothing("exec error");
  try {
    const { auths, cacheKeyType, cacheMilliseconds } = parseResponse(row.stdout, row.apiVersion);
    const key = cacheKeyOf(cacheKeyType, requestedImage);
    const isCached = key !== undefined && (cacheMilliseconds ?? defaultCacheMilliseconds) !== 0;
    return {
      cachedKeys: isCached ? [key] : [],
      decoded: {
        auth: Object.fromEntries(auths.map(([place, auth]) => [place, `${auth.username}:${auth.password}`])),
        ...(cacheMilliseconds !== undefined && { cacheDurationSeconds: cacheMilliseconds / 1000 }),
        cacheKeyType,
      },
      providedEntries: key === undefined ? 0 : auths.length,
      error: null,
    };
  } catch (error) {
    return nothing((error as Error).message);
  }
}

export async function credentialConfig({ text }: { readonly text: string }): Promise<unknown> {
  const { problems } = credentialProvidersFrom(await parseConfigFile("providers", text), dialect);
  if (problems.length > 0) throw new Error(problems.join("; "));
  return true;
}

export const csrName = (row: {
  readonly key: string;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly usages: readonly string[];
}): unknown => requestName(createPrivateKey(row.key), row);

export function shutdownPlan(row: {
  readonly shutdownGracePeriodSeconds: number;
  readonly criticalSeconds: number;
  readonly byPriority: readonly PriorityGrace[];
  readonly pods: readonly {
    readonly name: string;
    readonly priority: number | null;
    readonly terminationGracePeriodSeconds: number | null;
  }[];
}): unknown {
  const { shutdownGracePeriodSeconds: graceSeconds, criticalSeconds, byPriority } = row;
  const steps = shutdownSteps({ graceSeconds, criticalSeconds, byPriority });
  if (steps.length === 0) return { enabled: false };
  const pods = row.pods.map(
    ({ name, priority, terminationGracePeriodSeconds }) =>
      ({ metadata: { name }, spec: { priority, terminationGracePeriodSeconds } }) as unknown as Pod,
  );
  const groups = planOf(steps, pods).map(({ priority, seconds, pods: members }) => ({
    priority,
    seconds,
    pods: members.map((member) => ({ graceSeconds: member.graceSeconds, name: member.pod.metadata.name })),
  }));
  return { enabled: true, inhibitSeconds: inhibitSeconds(steps), groups };
}

/** Distinguishes the managers' checkpoints by their fields. The recording prints a value, not a pointer. */
export function checkpointFiles(row: object): unknown {
  const shown = (text: string, hashed: string): unknown => ({ hashed: hashed.replace("(*", "("), text });
  if ("machineState" in row) {
    const state = row as MemoryCheckpoint;
    return shown(memoryCheckpointText(state), memoryPreimage(state));
  }
  if ("defaultCpuSet" in row) {
    const { entries, ...rest } = row as CpuCheckpoint & { readonly entries: CpuCheckpoint["entries"] | null };
    const state = { ...rest, entries: entries ?? {} };
    return shown(cpuCheckpointText(state), cpuPreimage(state));
  }
  const state = row as DeviceCheckpoint;
  return shown(deviceCheckpointText(state), devicePreimage(state));
}
