// All connections that the server passes on.
import type { AdmissionChain } from "#admission";
import type { VirtualResource } from "../catalog.ts";
import { objectsOf } from "../objects.ts";
import type { Core } from "../server.ts";
import type { ApiserverSettings } from "../settings-of.ts";
import { agentsOf } from "./agents.ts";
import type { ConnectContext } from "./context.ts";
import { podConnections } from "./pods.ts";
import { proxyEndpoints } from "./proxy.ts";

export function connectEndpoints(
  core: Core,
  settings: ApiserverSettings,
  admission: AdmissionChain,
  stopping: AbortSignal,
): readonly VirtualResource[] {
  const { dialect } = core.options;
  const objects = objectsOf(core);
  const agents = agentsOf({
    dialect,
    objects,
    authorities: settings.nodeagentCertificateAuthority,
    certificate: settings.nodeagentClientCertificate,
    key: settings.nodeagentClientKey,
    addressTypes: settings.nodeagentPreferredAddressTypes,
    timeoutMilliseconds: settings.nodeagentTimeout,
  });
  const context: ConnectContext = { dialect, admission, objects, agents, stopping };
  return [...podConnections(context), ...proxyEndpoints(context)];
}
