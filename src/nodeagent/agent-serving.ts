// Starts the agent's servers: its HTTP servers with metrics, and the pod resources socket.
import { join } from "node:path";
import { type Gates, knownGates } from "#options";
import type { AgentEnvironment } from "./agent-environment.ts";
import type { AgentLifecycle } from "./agent-lifecycle.ts";
import type { DeviceManager } from "./devices/device-manager.ts";
import type { PodRegistry } from "./interfaces.ts";
import type { ResourceManagers } from "./managers/resource-managers.ts";
import type { NodeLifecycle } from "./node/node.ts";
import { podResourcesServer } from "./pod-resources/pod-resources.ts";
import { requestMetrics } from "./pod-resources/request-metrics.ts";
import { type AgentMetricsOptions, agentMetrics } from "./server/agent-metrics.ts";
import { type ServeParts, serve } from "./server/serve.ts";

export interface ServingParts
  extends
    Pick<AgentMetricsOptions, "working" | "mirrors" | "mounted">,
    Pick<ServeParts, "probeMetrics" | "stats" | "setVerbosity" | "previews"> {
  readonly gates: Gates;
  readonly registry: PodRegistry;
  readonly node: NodeLifecycle;
  readonly managers: ResourceManagers;
  readonly devices: DeviceManager;
}

export async function serveAgent(
  environment: AgentEnvironment,
  parts: ServingParts,
  lifecycle: AgentLifecycle,
): Promise<void> {
  const { dialect, settings, clock, log, nodeName, version, runtime, client, metrics, machine } = environment;
  const { gates, registry, node, working, mirrors, mounted } = parts;
  agentMetrics({
    metrics,
    clock,
    dialect,
    nodeName,
    version,
    registry,
    working,
    mirrors,
    mounted,
    gates: knownGates.map(({ name, stage }) => ({ name, stage, enabled: gates.enabled(name) })),
  });
  const servers = serve(settings, environment.ports, {
    dialect,
    clock,
    log,
    nodeName,
    client,
    certificate: environment.certificate,
    nodeAddresses: () => (client ? (node.node().status?.addresses ?? []) : []),
    registry,
    runtime,
    metrics,
    probeMetrics: parts.probeMetrics,
    stats: parts.stats,
    machine,
    setVerbosity: parts.setVerbosity,
    ...(environment.tracing && { traced: environment.tracing.requests }),
    ...(parts.previews && { previews: parts.previews }),
  });
  lifecycle.part("servers", () => servers.close());
  if (!gates.enabled("NodeAgentPodResources")) return;
  const { managers, devices } = parts;
  const allows = {
    get: gates.enabled("NodeAgentPodResourcesGet"),
    get_allocatable: gates.enabled("NodeAgentPodResourcesGetAllocatable"),
  };
  const resources = await podResourcesServer({
    socketPath: join(settings.rootDir, "pod-resources", `${dialect.cli.agent}.sock`),
    // Includes finished pods until they are deleted, like the kubelet of this release.
    pods: () => registry.pods(),
    exclusive: (uid, container) => managers.exclusive(uid, container),
    memoryBlocks: (uid, container) => managers.memoryBlocks(uid, container),
    devices: (uid, container) => devices.containerDevices(uid, container),
    allocatable: () => ({ ...managers.allocatable(), devices: devices.allocatableDevices() }),
    allows,
    clock: environment.clock,
    onRequest: requestMetrics(metrics, dialect, allows),
  }).catch((error: unknown) => {
    log.error("failed to serve the pod resources API", { error: (error as Error).message });
    return undefined;
  });
  lifecycle.part("pod resources", async () => await resources?.close());
}
