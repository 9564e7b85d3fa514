// Everything that a server sees to at its start and ever after, in the order in which it is first done and
// told by the health checks.
import type { Gates } from "#options";
import { systemNamespaces, tokenTracking } from "../bootstrap.ts";
import { flowControlConsumer, flowControlProducer } from "../bootstrap-flow-control.ts";
import { systemPriorities } from "../bootstrap-priorities.ts";
import { systemRoles } from "../bootstrap-roles.ts";
import { identityLease, identityLeaseCollector } from "../identity-lease.ts";
import type { Core } from "../server.ts";
import { ownService } from "../services/own-service.ts";
import type { ApiserverSettings } from "../settings-of.ts";
import { clusterAuthenticationInfo } from "../told-trust.ts";
import type { PostStartHook } from "./upkeep.ts";

export interface UpkeepsOptions {
  readonly settings: ApiserverSettings;
  readonly gates: Gates;
  /** The address of the server's own service. */
  readonly ownAddress: string;
}

export function postStartHooks(
  core: Core,
  { settings, gates, ownAddress }: UpkeepsOptions,
): readonly PostStartHook[] {
  return [
    systemNamespaces(core),
    ownService(core, settings, ownAddress),
    ...(settings.authorizationMode.includes("RBAC") ? [systemRoles(core)] : []),
    systemPriorities(core),
    flowControlProducer(core),
    flowControlConsumer(core),
    clusterAuthenticationInfo(core, settings),
    ...(gates.enabled("APIServerIdentity") ? [identityLease(core), identityLeaseCollector(core)] : []),
    tokenTracking(core),
  ];
}
