// From the settings to running servers: certificate, access, figures, ports.
import { join } from "node:path";
import type { ApiClient } from "#client";
import { configOf, resolveGates, knownGates, tlsSettings } from "#options";
import { type NodeagentSettings, nodeagentOptions } from "../options/options.ts";
import { access } from "./access.ts";
import { type RunningServers, type ServerParts, startServers } from "./server.ts";
import { servingCertificate } from "./serving-certificate.ts";

export type ServeParts = Omit<
  ServerParts,
  "configuration" | "switches" | "hostLogFolder" | "checkpointFolder" | "streamIdleMilliseconds"
> & {
  readonly client: ApiClient | undefined;
  readonly addresses: readonly string[];
};

const hostLogFolder = "/var/log";

/** Opens the ports that the settings name. */
export async function serve(settings: NodeagentSettings, parts: ServeParts): Promise<RunningServers> {
  const { clock, log, dialect, nodeName, client } = parts;
  const gates = resolveGates(knownGates, settings.featureGates);
  const certificate = await servingCertificate({
    clock,
    log,
    certificateFile: settings.tlsCertFile,
    keyFile: settings.tlsPrivateKeyFile,
    folder: settings.certDir,
    agent: dialect.cli.agent,
    nodeName,
    addresses: parts.addresses,
  });
  const guard = access({
    clock,
    log,
    nodeName,
    client,
    anonymous: settings.anonymousAuth,
    clientCaFile: settings.clientCaFile,
    tokenReviews: settings.authenticationTokenWebhook,
    tokenReviewTtl: settings.authenticationTokenWebhookCacheTtl,
    authorization: settings.authorizationMode,
    allowedTtl: settings.authorizationWebhookCacheAuthorizedTtl,
    deniedTtl: settings.authorizationWebhookCacheUnauthorizedTtl,
    metrics: parts.metrics,
  });
  const { kind: _, apiVersion: __, ...configuration } = configOf(nodeagentOptions(dialect), settings);
  const whole: ServerParts = {
    ...parts,
    configuration: () => configuration,
    switches: {
      debugging: settings.enableDebuggingHandlers,
      systemLogs: settings.enableSystemLogHandler,
      profiling: settings.enableProfilingHandler,
      verbosityFlag: settings.enableDebugFlagsHandler,
      checkpoints: gates.enabled("ContainerCheckpoint"),
    },
    hostLogFolder,
    checkpointFolder: join(settings.rootDir, "checkpoints"),
    streamIdleMilliseconds: settings.streamingConnectionIdleTimeout,
  };
  const ports = {
    address: settings.address,
    secure: settings.enableServer ? settings.port : undefined,
    readOnly: settings.readOnlyPort,
    healthAddress: settings.healthzBindAddress,
    health: settings.healthzPort,
  };
  return await startServers(whole, ports, {
    access: guard,
    certificate,
    tls: tlsSettings(settings.tlsMinVersion, settings.tlsCipherSuites),
  });
}
