// Starts the servers: ports first, then certificate, access and handlers.
import { join } from "node:path";
import type { Clock, Log } from "#base";
import type { NodeAddress } from "#api";
import type { ApiClient } from "#client";
import { type Call, type Reply, healthMetrics } from "#http";
import { resolveGates, knownGates, tlsSettings } from "#options";
import { watchContention } from "#tracing";
import type { NodeagentSettings } from "../options/options.ts";
import { access } from "./access.ts";
import { measuredRequests } from "./agent-metrics.ts";
import { type OpenPorts, openPorts } from "./ports.ts";
import { type ServerParts, agentRoutes, handler, healthHandler } from "./server.ts";
import { servingTemplate } from "../certificates/templates.ts";
import { requestedCertificate } from "./requested-certificate.ts";
import { type ServingCertificate, servingCertificate } from "./serving-certificate.ts";
import { shownConfiguration } from "../options/shown-configuration.ts";

export type ServeParts = Omit<
  ServerParts,
  | "configuration"
  | "healthMetrics"
  | "contention"
  | "switches"
  | "hostLogFolder"
  | "checkpointFolder"
  | "streamIdleMilliseconds"
> & {
  readonly client: ApiClient | undefined;
  /** Wraps requests in trace spans. */
  readonly traced?: (handle: (call: Call) => Promise<Reply>) => (call: Call) => Promise<Reply>;
  /** Undefined if the certificate is requested from the API server. */
  readonly certificate: ServingCertificate | undefined;
  /** Returns the addresses from the node's status. */
  readonly nodeAddresses: () => readonly NodeAddress[];
};

const hostLogFolder = "/var/log";

export interface RunningServers {
  close(): Promise<void>;
}

/** Binds the configured ports. */
export const portsFrom = (
  settings: NodeagentSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<OpenPorts> =>
  openPorts(
    {
      address: settings.address,
      secure: settings.enableServer ? settings.port : undefined,
      readOnly: settings.readOnlyPort,
      healthAddress: settings.healthzBindAddress,
      health: settings.healthzPort,
    },
    { clock, log, tls: tlsSettings(settings.tlsMinVersion, settings.tlsCipherSuites) },
  );

/**
 * Returns the configured certificate or a self-signed one; undefined if it is requested from the API server.
 */
export async function certificateFrom(
  settings: NodeagentSettings,
  parts: Pick<ServeParts, "clock" | "log" | "dialect" | "nodeName">,
): Promise<ServingCertificate | undefined> {
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = settings;
  if (settings.rotateServerCertificates && certificateFile === "" && keyFile === "") return undefined;
  const { clock, log, dialect, nodeName } = parts;
  const agent = dialect.cli.agent;
  return servingCertificate({
    clock,
    log,
    certificateFile,
    keyFile,
    folder: settings.certDir,
    agent,
    nodeName,
  });
}

/** Serves requests on the bound ports. */
export function serve(settings: NodeagentSettings, ports: OpenPorts, parts: ServeParts): RunningServers {
  const { clock, log, dialect, nodeName, client, certificate } = parts;
  const gates = resolveGates(knownGates, settings.featureGates);
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
  const configuration = shownConfiguration(dialect, settings);
  const isProfiled = settings.enableDebuggingHandlers && settings.enableProfilingHandler;
  const contention = isProfiled && settings.contentionProfiling ? watchContention() : undefined;
  const whole: ServerParts = {
    ...parts,
    contention,
    configuration: () => configuration,
    healthMetrics: healthMetrics(dialect),
    switches: {
      debugging: settings.enableDebuggingHandlers,
      systemLogs: settings.enableSystemLogHandler,
      logQueries: settings.enableSystemLogQuery && gates.enabled("NodeLogQuery"),
      profiling: settings.enableProfilingHandler,
      verbosityFlag: settings.enableDebugFlagsHandler,
      checkpoints: gates.enabled("ContainerCheckpoint"),
      runtimeMetrics: gates.enabled("PodAndContainerStatsFromCRI"),
      // Only one port serves them, as in the kubelet: the read-only port if enabled.
      healthMetrics: !gates.enabled("ComponentSLIs")
        ? undefined
        : settings.readOnlyPort === 0
          ? "secure"
          : "readonly",
    },
    hostLogFolder,
    checkpointFolder: join(settings.rootDir, "checkpoints"),
    streamIdleMilliseconds: settings.streamingConnectionIdleTimeout,
  };
  const measured = measuredRequests(parts.metrics, dialect, clock);
  const traced = parts.traced ?? ((handle) => handle);
  ports.answer({
    secure: measured("readwrite", traced(handler(agentRoutes(whole, "secure"), guard, log))),
    readOnly: measured("readonly", traced(handler(agentRoutes(whole, "readonly"), undefined, log))),
    health: healthHandler(whole),
  });
  const stopping = new AbortController();
  if (certificate) ports.useCertificate(certificate.pair);
  else if (client)
    void requestedCertificate(
      {
        clock,
        log,
        dialect,
        client,
        metrics: parts.metrics,
        folder: settings.certDir,
        addresses: parts.nodeAddresses,
        template: (names) => servingTemplate(nodeName, dialect, names),
        onPair: (pair) => ports.useCertificate(pair),
      },
      stopping.signal,
    );
  const unfollow = certificate?.follow((pair) => ports.useCertificate(pair));
  return {
    close: async () => {
      stopping.abort();
      unfollow?.();
      guard.stop();
      contention?.stop();
      await ports.close();
    },
  };
}
