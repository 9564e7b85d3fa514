// All connect subresources: those of pods, and proxies.
import type { ServerObjects } from "#registry";
import type { AdmissionChain } from "#admission";
import type { VirtualResource } from "#endpoints";
import { type AgentOptions, agentsOf } from "./agents.ts";
import type { ConnectContext } from "./context.ts";
import { podConnections } from "./pods.ts";
import { proxyEndpoints } from "./proxy.ts";

export function connectEndpoints(
  server: ServerObjects,
  options: Omit<AgentOptions, "dialect" | "nodes">,
  admission: AdmissionChain,
  stopping: AbortSignal,
): readonly VirtualResource[] {
  const { dialect, resources } = server;
  const agents = agentsOf({
    dialect,
    nodes: resources.nodes,
    ...options,
  });
  const context: ConnectContext = { dialect, admission, resources, agents, stopping };
  return [...podConnections(context), ...proxyEndpoints(context)];
}
