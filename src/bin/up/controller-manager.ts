// Controllers and scheduler within the `orch up` process, as clients of the API server over one shared view.
import { X509Certificate } from "node:crypto";
import { closeSync, readFileSync } from "node:fs";
import { signingKey } from "#authn";
import { createLog, logSink, systemClock } from "#base";
import { apiClient, connectionOf, https, readClientConfig, withUserAgent } from "#client";
import { clusterView, contextFor, sharedContext } from "#controllerkit";
import {
  type ControllerSettings,
  type LocalPathSettings,
  defaultSettings,
  ensureLocalPathClass,
  runControllerManager,
  servingApprovalController,
  defaultNodeMaskSizes,
} from "#controllers";
import { type Dialect, componentAgent } from "#dialect";
import { type MetricsServerOptions, runMetricsServer, unregisterMetricsApi } from "#metricsapi";
import type { Gates } from "#options";
import { runScheduler } from "#scheduler";
import { LogFile } from "./log-file.ts";
import { noticeUnreachableRegistry } from "./registry-notice.ts";

export interface ControlLoopOptions {
  /** Path of their client config. */
  readonly config: string;
  readonly dialect: Dialect;
  readonly gates: Gates;
  /** The CA of the API server's certificate, published to every namespace. */
  readonly authorityFile: string;
  /** The key of that CA, which signs certificate requests. */
  readonly authorityKeyFile: string;
  /** The key that signs service account tokens. */
  readonly accountKeyFile: string;
  /** Range from which pod CIDRs are allocated to nodes, if nodes do not choose them themselves. */
  readonly clusterCidr?: string;
  /** Front proxy CA for the resource metrics API; without it the API is not served. */
  readonly frontProxyAuthorityFile?: string;
  /** The node of this machine and its folder for local volumes; without it none are provisioned. */
  readonly localPath?: LocalPathSettings;
  readonly logFile: string;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
}

export interface RunningControllerManager {
  stop(): Promise<void>;
}

export function startControllerManager(options: ControlLoopOptions): RunningControllerManager {
  const { dialect, gates } = options;
  const file = new LogFile(options.logFile);
  const descriptor = file.open();
  const stopRotation = file.startRotation(systemClock);
  const log = createLog({ sink: logSink({ descriptor }) });
  const connection = () => connectionOf(readClientConfig(options.config));
  const transport = https({
    ...connection(),
    // Read again for every new connection: the certificate is renewed while the cluster runs.
    secrets: () => connection().secrets?.() ?? {},
    userAgent: componentAgent(dialect, "controller-manager"),
  });
  const stopping = new AbortController();
  const client = apiClient(transport, dialect);
  const schedulerClient = apiClient(withUserAgent(transport, componentAgent(dialect, "scheduler")), dialect);
  const base = { client, clock: systemClock, signal: stopping.signal, dialect, gates };
  const view = clusterView({ ...base, log });
  noticeUnreachableRegistry(view, options.print);
  const running = Promise.allSettled([
    runControllerManager({
      ...base,
      view,
      log: log.with({ part: "controllers" }),
      enabled: ["*", "bootstrapsigner", "tokencleaner"],
      settings: settingsFrom(options),
    }),
    runScheduler({ ...base, client: schedulerClient, view, log: log.with({ part: "scheduler" }) }),
    servingApprovalController(
      contextFor(sharedContext({ ...base, view, log: log.with({ part: "serving approval" }) })),
    ).stopped,
    options.localPath &&
      ensureLocalPathClass(client, options.localPath.nodeName).catch((error: Error) =>
        log.warn("creating the storage class of local volumes failed", { error: error.message }),
      ),
    resourceMetrics({ ...base, view, log: log.with({ part: "resource metrics" }) }, options),
  ]);
  return {
    stop: async () => {
      stopping.abort();
      transport.close();
      await running;
      log.flush();
      stopRotation();
      closeSync(descriptor);
    },
  };
}

async function resourceMetrics(
  parts: Omit<MetricsServerOptions, "frontProxyAuthority">,
  { frontProxyAuthorityFile }: ControlLoopOptions,
): Promise<void> {
  if (frontProxyAuthorityFile === undefined) await unregisterMetricsApi(parts.client);
  else
    await runMetricsServer({ ...parts, frontProxyAuthority: readFileSync(frontProxyAuthorityFile, "utf8") });
}

const signedSeconds = 365 * 24 * 3600;
/** Five heartbeats of an agent; see `nodeLeaseSeconds` in plans.ts. */
const nodeMonitorGraceMilliseconds = 25_000;

function settingsFrom(options: ControlLoopOptions): Partial<ControllerSettings> {
  const certificate = readFileSync(options.authorityFile, "utf8");
  return {
    rootCa: certificate,
    serviceAccountKey: signingKey(options.accountKeyFile),
    signing: {
      authority: { certificate, key: readFileSync(options.authorityKeyFile, "utf8") },
      seconds: signedSeconds,
      authorityExpiry: new X509Certificate(certificate).validToDate.getTime(),
    },
    nodeMonitorGraceMilliseconds,
    // A single-machine cluster reacts to load immediately.
    autoscaler: {
      ...defaultSettings.autoscaler,
      syncMilliseconds: 2000,
      cpuInitializationMilliseconds: 0,
      initialReadinessDelayMilliseconds: 0,
    },
    ...(options.localPath && { localPath: options.localPath }),
    ...(options.clusterCidr !== undefined && {
      nodeIpam: {
        clusterCidrs: [options.clusterCidr],
        nodeMaskSizes: defaultNodeMaskSizes,
        serviceCidrs: [],
      },
    }),
  };
}
