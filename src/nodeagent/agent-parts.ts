// Parts of the agent that are built from its settings: runtime, node, pod sources and cgroups.
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import { type ContainerRuntime, grpcRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { deviceCheckpoints } from "./agent-devices.ts";
import { type Amounts, reservations } from "./node/capacity.ts";
import { type NodeLifecycle, nodeLifecycle } from "./node/node.ts";
import { nodeObserver } from "./node/observe.ts";
import type { RuntimeHealth } from "./node/runtime-health.ts";
import type { NodeagentSettings } from "./options/options.ts";
import { cpusOf } from "./options/types.ts";
import type { CgroupTree } from "./resources/cgroup-tree.ts";
import { moveSystemProcesses } from "./resources/host.ts";
import type { Machine } from "./resources/machine.ts";
import type { NodeLimits } from "./resources/node-limits.ts";
import type { EventRecorder } from "./interfaces.ts";
import { fileSource } from "./sources/file-source.ts";
import { urlSource } from "./sources/url-source.ts";
import type { SourceName, WantedPods } from "./sources/wanted-pods.ts";
import { longNameOf, nameOf, referenceTo } from "./pod.ts";

/** Dependencies that nearly every part of the agent needs. */
export interface AgentDeps {
  readonly dialect: Dialect;
  readonly settings: NodeagentSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly nodeName: string;
  readonly machine: Machine;
  readonly runtime: ContainerRuntime;
  /** Undefined without an API server. */
  readonly client: ApiClient | undefined;
  readonly events: EventRecorder;
}

/**
 * Sets up the cgroups of everything but pods: the agent, system processes and the resources reserved for
 * them.
 */
export async function setUpSystemCgroups(
  { settings, dialect }: AgentDeps,
  tree: CgroupTree,
  limits: NodeLimits,
): Promise<void> {
  const reserved = [
    ["system-reserved", settings.systemReservedCgroup, settings.systemReserved],
    ["orch-reserved", settings.orchReservedCgroup, settings.orchReserved],
  ] as const;
  for (const [what, group, amounts] of reserved)
    if (settings.enforceNodeAllocatable.includes(what))
      await limits.limitReserved(dialect.spelling.word(what).replace("-", " "), group, amounts);
  if (settings.systemCgroups) await moveSystemProcesses(tree, settings.systemCgroups);
  if (settings.nodeagentCgroups) {
    await tree.make(settings.nodeagentCgroups);
    await tree.join(settings.nodeagentCgroups, process.pid);
  }
}

/** Returns the configured cgroups by the system container they hold. */
export const systemGroupsOf = ({ settings, dialect }: AgentDeps): Readonly<Record<string, string>> => ({
  ...(settings.nodeagentCgroups && { [dialect.cli.agent]: settings.nodeagentCgroups }),
  ...(settings.runtimeCgroups && { runtime: settings.runtimeCgroups }),
  ...(settings.systemCgroups && { misc: settings.systemCgroups }),
});

export function runtimeFrom(settings: NodeagentSettings): ContainerRuntime {
  const endpoint = (text: string): string => (text.startsWith("/") ? `unix://${text}` : text);
  return grpcRuntime({
    endpoint: endpoint(settings.containerRuntimeEndpoint),
    imageEndpoint: endpoint(settings.imageServiceEndpoint),
    timeoutMilliseconds: settings.runtimeRequestTimeout,
  });
}

export function sourcesOf(settings: NodeagentSettings, client: ApiClient | undefined): SourceName[] {
  return [
    ...(client ? (["api"] as const) : []),
    ...(settings.podManifestPath ? (["file"] as const) : []),
    ...(settings.manifestUrl ? (["http"] as const) : []),
  ];
}

/** Starts the configured sources of static pods: a file or folder, and a URL. */
export function manifestSources(
  { dialect, settings, clock, log, nodeName, events }: AgentDeps,
  wanted: WantedPods,
  signal: AbortSignal,
): Promise<void>[] {
  const manifest = {
    dialect,
    nodeName,
    clock,
    log,
    onIgnored: (message: string) => log.warn("part of a static pod manifest is ignored", { message }),
    onProblem: (message: string) =>
      events.event({ kind: "Node", name: nodeName, uid: nodeName }, "Warning", "InvalidStaticPod", message),
  };
  const {
    podManifestPath: path,
    fileCheckFrequency,
    manifestUrl: url,
    manifestUrlHeader: headers,
    httpCheckFrequency,
  } = settings;
  return [
    ...(path
      ? [
          fileSource(
            {
              ...manifest,
              path,
              periodMilliseconds: fileCheckFrequency,
              onPods: (found) => wanted.replace("file", found),
            },
            signal,
          ),
        ]
      : []),
    ...(url
      ? [
          urlSource(
            {
              ...manifest,
              url,
              headers,
              periodMilliseconds: httpCheckFrequency,
              onPods: (found) => wanted.replace("http", found),
            },
            signal,
          ),
        ]
      : []),
  ];
}

/** Reports a static pod that is ignored because of its name. */
export const reportDuplicate = ({ events }: Pick<AgentDeps, "events">, pod: Pod, source: string): void =>
  events.event(
    referenceTo(pod),
    "Warning",
    "FailedValidation",
    `Error validating pod ${longNameOf(pod)} from ${source} due to duplicate pod name ${JSON.stringify(nameOf(pod))}, ignoring`,
  );

/** Returns the resources reserved for system daemons and the agent. */
export const reservedOf = (settings: NodeagentSettings): readonly Amounts[] =>
  reservations([settings.orchReserved, settings.systemReserved], cpusOf(settings.reservedCpus).length);

/** Creates the node as described by settings and machine. Without a client it is not registered anywhere. */
export function nodeFrom(
  { dialect, settings, clock, log, version, nodeName, machine, runtime, events }: AgentDeps,
  client: ApiClient | undefined,
  {
    health,
    problems,
    pressures,
    devices,
    volumesInUse,
  }: {
    readonly health: RuntimeHealth;
    readonly problems: () => readonly string[];
    readonly pressures: () => readonly string[];
    readonly devices: () => { readonly capacity: Amounts; readonly allocatable: Amounts };
    readonly volumesInUse: () => readonly string[] | undefined;
  },
): NodeLifecycle {
  return nodeLifecycle({
    ...(client && { client }),
    clock,
    log,
    events,
    identity: {
      dialect,
      name: nodeName,
      labels: settings.nodeLabels,
      taints: settings.registerWithTaints,
      schedulable: settings.registerSchedulable,
      providerId: settings.providerId,
      controllerAttaches: settings.enableControllerAttachDetach,
      port: settings.port,
      externalCloud: settings.cloudProvider === "external",
      nodeIps: settings.nodeIp,
    },
    register: settings.registerNode,
    updateMilliseconds: settings.nodeStatusUpdateFrequency,
    reportMilliseconds: settings.nodeStatusReportFrequency,
    isNew: async () => (await deviceCheckpoints({ dialect, settings }).names()).length === 0,
    observe: nodeObserver({
      clock,
      log,
      runtime,
      runtimeHealth: health,
      hostname: nodeName,
      addresses: { given: settings.nodeIp },
      rootDirectory: settings.rootDir,
      agentVersion: version,
      maxPods: settings.maxPods,
      podsPerCore: settings.podsPerCore,
      reserved: reservedOf(settings),
      hardThresholds: settings.evictionHard,
      reserveThresholds: !settings.experimentalAllocatableIgnoreEviction,
      pressures,
      localStorageIsolation: settings.localStorageCapacityIsolation,
      maxImages: settings.nodeStatusMaxImages,
      machine: async () => machine,
      devices,
      volumesInUse,
      problems,
    }),
  });
}
