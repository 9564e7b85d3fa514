// Controllers and scheduler in the process of `orch up`, as clients of the API server over one shared view.
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
  usualNodeMaskSizes,
} from "#controllers";
import { type Dialect, componentAgent } from "#dialect";
import { type MetricsServerOptions, runMetricsServer, unregisterMetricsApi } from "#metricsapi";
import type { Gates } from "#options";
import { runScheduler } from "#scheduler";
import { LogFile } from "./log-file.ts";
import { noticeUnreachableRegistry } from "./registry-notice.ts";

export interface ControlLoopOptions {
  /** The client config they speak with. */
  readonly config: string;
  readonly dialect: Dialect;
  readonly gates: Gates;
  /** The file with the authorities of the server's certificate, which every namespace gets. */
  readonly authorityFile: string;
  /** The key of that authority, which signs certificate requests. */
  readonly authorityKeyFile: string;
  /** The key that signs service account tokens. */
  readonly accountKeyFile: string;
  /** The range from which nodes get addresses for their pods, where they have none of their own. */
  readonly clusterCidr?: string;
  /** Serves the resource metrics API to holders of this authority's certificates; without it nobody does. */
  readonly frontProxyAuthorityFile?: string;
  /** The node of this machine, and where volumes of its own disk are made; without it there are none. */
  readonly localPath?: LocalPathSettings;
  readonly logFile: string;
  /** Says a line to whoever started the cluster. */
  readonly say: (line: string) => void;
}

export interface RunningControllerManager {
  stop(): Promise<void>;
}

export function startControllerManager(options: ControlLoopOptions): RunningControllerManager {
  const { dialect, gates } = options;
  const file = new LogFile(options.logFile);
  const descriptor = file.open();
  const leaveLog = file.keepSmall(systemClock);
  const log = createLog({ sink: logSink({ descriptor }) });
  const transport = https({
    ...connectionOf(readClientConfig(options.config)),
    userAgent: componentAgent(dialect, "controller-manager"),
  });
  const stopping = new AbortController();
  const client = apiClient(transport, dialect);
  const schedulerClient = apiClient(withUserAgent(transport, componentAgent(dialect, "scheduler")), dialect);
  const base = { client, clock: systemClock, signal: stopping.signal, dialect, gates };
  const view = clusterView({ ...base, log });
  noticeUnreachableRegistry(view, options.say);
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
      ensureLocalPathClass(client).catch((error: Error) =>
        log.warn("the storage class of local volumes was not made", { error: error.message }),
      ),
    resourceMetrics({ ...base, view, log: log.with({ part: "resource metrics" }) }, options),
  ]);
  return {
    stop: async () => {
      stopping.abort();
      transport.close();
      await running;
      log.flush();
      leaveLog();
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
      authorityEnds: new X509Certificate(certificate).validToDate.getTime(),
    },
    nodeMonitorGraceMilliseconds,
    // A cluster of one machine need not be spared: it reacts to load at once.
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
        nodeMaskSizes: usualNodeMaskSizes,
        serviceCidrs: [],
      },
    }),
  };
}
