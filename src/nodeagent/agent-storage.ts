// Sets up CSI from the settings: the registered drivers, the attachment of volumes, and the volume plug-in
// that mounts them.
import { join } from "node:path";
import { knownGates, resolveGates } from "#options";
import type { AgentEnvironment } from "./agent-environment.ts";
import type { AgentLifecycle } from "./agent-lifecycle.ts";
import { csiAttachments } from "./csi/attachments.ts";
import { type CsiPlugin, csiPlugin } from "./csi/csi-plugin.ts";
import { type CsiDrivers, csiDrivers } from "./csi/drivers.ts";
import { type CsiNode, csiNode } from "./node/csi-node.ts";
import type { NodeLifecycle } from "./node/node.ts";
import type { Mounter } from "./volumes/mounter.ts";
import type { PodTokens } from "./volumes/tokens.ts";

export interface AgentStorage {
  readonly drivers: CsiDrivers;
  readonly plugin: CsiPlugin;
  /** Undefined for an agent that does not join a cluster. */
  readonly node: CsiNode | undefined;
}

export function storageFrom(
  { dialect, settings, clock, log, events, client, joined, nodeName, metrics }: AgentEnvironment,
  parts: {
    readonly node: NodeLifecycle;
    readonly mounter: Mounter;
    readonly tokens: PodTokens;
    readonly podsFolder: string;
  },
  lifecycle: AgentLifecycle,
): AgentStorage {
  const node = joined && csiNode({ client: joined, clock, log, nodeName, nodeUid: () => parts.node.uid() });
  // Drivers may register before the node is registered.
  const registry = node && {
    install: async (...given: Parameters<CsiNode["install"]>) => {
      await parts.node.registered;
      await node.install(...given);
    },
    remove: (driver: string) => node.remove(driver),
  };
  const operations = metrics.histogram({
    name: "csi_operations_seconds",
    help: "Duration of calls to storage drivers in seconds, by gRPC status.",
    labels: ["driver_name", "grpc_status_code", "method_name", "migrated"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
    stability: "ALPHA",
  });
  const drivers = csiDrivers({
    onCall: ({ driver, method, status, milliseconds }) =>
      operations.with(driver, status, method, "false").observe(milliseconds / 1000),
    clock,
    log,
    pluginName: `${dialect.names.volumes.pluginPrefix}csi`,
    registry,
  });
  lifecycle.resource("storage drivers", () => drivers.close());
  const gates = resolveGates(knownGates, settings.featureGates);
  const plugin = csiPlugin({
    dialect,
    log,
    events,
    client,
    drivers,
    attachments:
      client &&
      csiAttachments({ client, clock, nodeName, byController: settings.enableControllerAttachDetach }),
    mounter: parts.mounter,
    tokens: parts.tokens,
    nodeName,
    recovers: gates.enabled("RecoverVolumeExpansionFailure"),
    podsFolder: parts.podsFolder,
    pluginFolder: join(settings.rootDir, "plugins", `${dialect.names.volumes.csiPrefix}`),
  });
  return { drivers, plugin, node };
}
