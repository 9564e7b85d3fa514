// The post-start hooks of a server, in the order in which they run first and in which the health checks list
// them.
import { minorOf } from "#base";
import type { FlowControl } from "#fairness";
import type { ServerObjects } from "#registry";
import type { Gates } from "#options";
import { systemNamespaces, legacyTokenTracking } from "./namespaces.ts";
import { flowControlConsumer, flowControlFilter, flowControlProducer } from "./flow-control.ts";
import { systemPriorities } from "./priority-classes.ts";
import { systemRoles } from "./roles.ts";
import { identityLease, identityLeaseCollector } from "./identity-lease.ts";
import { ownService } from "./own-service.ts";
import { modesOf } from "../authorization/modes.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import { clusterAuthenticationInfo } from "./cluster-authentication-info.ts";
import type { PostStartHook } from "./post-start-hook.ts";

export interface PostStartHooksOptions {
  readonly settings: ApiserverSettings;
  readonly gates: Gates;
  /** The address of the server's own service. */
  readonly ownAddress: string;
  /** Absent if API priority and fairness is disabled. */
  readonly flowControl?: FlowControl | undefined;
}

export function postStartHooks(
  server: ServerObjects,
  { settings, gates, ownAddress, flowControl }: PostStartHooksOptions,
): readonly PostStartHook[] {
  return [
    systemNamespaces(server),
    ownService(server, settings, ownAddress),
    ...(modesOf(settings, server.dialect).includes("RBAC")
      ? [systemRoles(server, (gate) => gates.enabled(gate))]
      : []),
    systemPriorities(server),
    flowControlProducer(server, minorOf(settings.release)),
    ...(flowControl ? [flowControlConsumer(server), flowControlFilter(server, flowControl)] : []),
    clusterAuthenticationInfo(server, settings),
    ...(gates.enabled("APIServerIdentity") ? [identityLease(server), identityLeaseCollector(server)] : []),
    legacyTokenTracking(server, gates.enabled("LegacyServiceAccountTokenTracking")),
  ];
}
