// Parts of the agent that follow from the settings alone: its runtime, its way to the API server, its sources, its groups.
import { RuntimeClass } from "#api";
import { ApiError, type Clock, type Metrics } from "#base";
import { type ApiClient, apiClient, connectionOf, https, readClientConfig } from "#client";
import { type ContainerRuntime, grpcRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { apiTransport } from "./api-transport.ts";
import type { NodeagentSettings } from "./options/options.ts";
import type { CgroupTree } from "./resources/cgroup-tree.ts";
import { gatherSystem } from "./resources/host.ts";
import { enforceReserved } from "./resources/pod-cgroups.ts";
import type { SourceName } from "./sources/wanted-pods.ts";

/** The groups that hold what is not a pod: the agent, the system, and what is reserved for them. */
export async function placeOthers(settings: NodeagentSettings, tree: CgroupTree): Promise<void> {
  if (settings.enforceNodeAllocatable.includes("system-reserved")) await enforceReserved(tree, settings.systemReservedCgroup, settings.systemReserved);
  if (settings.enforceNodeAllocatable.includes("orch-reserved")) await enforceReserved(tree, settings.orchReservedCgroup, settings.orchReserved);
  if (settings.systemCgroups) await gatherSystem(tree, settings.systemCgroups);
  if (settings.nodeagentCgroups) {
    await tree.make(settings.nodeagentCgroups);
    await tree.join(settings.nodeagentCgroups, process.pid);
  }
}

export function runtimeFrom(settings: NodeagentSettings): ContainerRuntime {
  const endpoint = (text: string): string => (text.startsWith("/") ? `unix://${text}` : text);
  return grpcRuntime({
    endpoint: endpoint(settings.containerRuntimeEndpoint),
    imageEndpoint: endpoint(settings.imageServiceEndpoint),
    timeoutMilliseconds: settings.runtimeRequestTimeout,
  });
}

export function clientFrom(
  settings: NodeagentSettings,
  dialect: Dialect,
  { version, clock, metrics }: { readonly version: string; readonly clock: Clock; readonly metrics: Metrics },
): ApiClient | undefined {
  if (!settings.orchconfig) return undefined;
  const connection = connectionOf(readClientConfig(settings.orchconfig));
  const limits = { perSecond: settings.orchApiQps, burst: settings.orchApiBurst, host: new URL(connection.server).host };
  return apiClient(apiTransport(https({ ...connection, userAgent: `${dialect.cli.agent}/${version}` }), { clock, metrics, ...limits }), dialect);
}

export function sourcesOf(settings: NodeagentSettings, client: ApiClient | undefined): SourceName[] {
  return [...(client ? (["api"] as const) : []), ...(settings.podManifestPath ? (["file"] as const) : []), ...(settings.manifestUrl ? (["http"] as const) : [])];
}

export async function runtimeHandler(client: ApiClient | undefined, name: string): Promise<string> {
  if (!client) throw new Error(`RuntimeClass ${JSON.stringify(name)} cannot be asked for without an API server`);
  try {
    return (await client.of({ schema: RuntimeClass, plural: "runtimeclasses", namespaced: false }).get(name)).handler;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) throw new Error(`RuntimeClass ${JSON.stringify(name)} not found`, { cause: error });
    throw error;
  }
}
