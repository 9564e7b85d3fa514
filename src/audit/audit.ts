// The audit system of a server: the policy, which may be replaced at runtime, and the backends.
import type { Clock, Log, Metrics } from "#base";
import { webhook, webhookConnection } from "#client";
import { type Dialect, componentName, groupName } from "#dialect";
import type { Dial } from "#http";
import {
  type AuditBackend,
  type AuditMode,
  type AuditSink,
  type LostEvents,
  sinkOf,
  unionSink,
} from "./backend.ts";
import { batching } from "./batch.ts";
import { logBackend, standardOutput } from "./log-backend.ts";
import { type AuditMetrics, auditMetrics } from "./metrics.ts";
import { type AuditPolicy, parsePolicy, readPolicyFile } from "./policy.ts";
import { isPipe, pipeFile } from "./pipe-file.ts";
import { type RotatingFile, rotatingFile } from "./rotating-file.ts";
import { truncating } from "./truncate.ts";
import { webhookBackend } from "./webhook-backend.ts";

/** Settings common to all backends. */
export interface BackendSettings {
  /** API version of the events. */
  readonly apiVersion: string;
  readonly mode: AuditMode;
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxWaitMilliseconds: number;
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly truncate: { readonly maxEventBytes: number; readonly maxBatchBytes: number } | undefined;
}

export interface AuditSettings {
  readonly policyFile: string;
  readonly log:
    | (BackendSettings & {
        /** "-" is standard output. */
        readonly path: string;
        readonly format: "json" | "legacy";
        readonly maxMegabytes: number;
        readonly maxBackups: number;
        readonly maxAgeDays: number;
        readonly compress: boolean;
      })
    | undefined;
  readonly webhook:
    | (BackendSettings & { readonly configFile: string; readonly initialBackoffMilliseconds: number })
    | undefined;
}

export interface AuditOptions {
  readonly settings: AuditSettings;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Dials the webhook; it is connected to directly if absent. */
  readonly dial?: Dial | undefined;
  /**
   * Returns a getter of a file's parsed content, reloaded when it changes. Invalid versions are reported
   * elsewhere.
   */
  readonly watchFile: <T>(setting: string, file: string, read: (text: string) => T, first: string) => () => T;
}

/** The parts that the audit filter uses. */
export interface Audit {
  readonly policy: () => AuditPolicy;
  readonly sink: AuditSink;
  readonly metrics: AuditMetrics;
}

const defaultMegabytes = 100;

/**
 * Opens the policy and the backends. Returns undefined, and audits nothing, unless there is a policy and at
 * least one backend. Throws an error that names the file if it cannot be used.
 */
export function openAudit(options: AuditOptions): Audit | undefined {
  const { settings, log, metrics: registry } = options;
  const metrics = auditMetrics(registry);
  const { policyFile } = settings;
  if (policyFile === "") {
    if (settings.log || settings.webhook) log.warn("no audit policy is given: no audit events are recorded");
    return undefined;
  }
  const policy = watchedPolicy(options);
  if (!settings.log && !settings.webhook) {
    log.warn("an audit policy is given, but neither a log nor a webhook: no audit events are recorded");
    return undefined;
  }
  const lost: LostEvents = (backend, count, error) => {
    metrics.lost(backend, count);
    log.error("audit events were lost", { backend, count, error: error.message });
  };
  const sinks: AuditSink[] = [];
  if (settings.log) sinks.push(logSink(settings.log, options, lost));
  if (settings.webhook) sinks.push(webhookSink(settings.webhook, options, lost));
  return { policy, metrics, sink: sinks.length === 1 ? sinks[0]! : unionSink(sinks) };
}

function logSink(
  settings: NonNullable<AuditSettings["log"]>,
  options: AuditOptions,
  lost: LostEvents,
): AuditSink {
  const { apiVersion, format, mode } = settings;
  const backend = logBackend({
    format,
    apiVersion,
    file: logFile(settings, options),
    mode,
    clock: options.clock,
    lost: (...args) => lost("log", ...args),
  });
  return buildSink(backend, settings, options, { name: "log", concurrent: false, lost });
}

function logFile(
  { path, maxMegabytes, maxBackups, maxAgeDays, compress }: NonNullable<AuditSettings["log"]>,
  { clock, log }: AuditOptions,
): RotatingFile {
  if (path === "-") return standardOutput((text) => void process.stdout.write(text));
  if (isPipe(path))
    return pipeFile({
      path,
      clock,
      onError: (error) => log.error("the audit log is incomplete", { error: error.message }),
    });
  return rotatingFile({
    path,
    maxBytes: (maxMegabytes || defaultMegabytes) * 1024 * 1024,
    maxBackups,
    maxAgeDays,
    compress,
    clock,
    onError: (error) => log.error("old audit logs cannot be cleaned up", { error: error.message }),
  });
}

function webhookSink(
  settings: NonNullable<AuditSettings["webhook"]>,
  options: AuditOptions,
  lost: LostEvents,
): AuditSink {
  const { clock, dialect, dial } = options;
  const { apiVersion } = settings;
  const backend = webhookBackend({
    webhook: webhook({
      connection: webhookConnection(settings.configFile),
      clock,
      userAgent: componentName(dialect, "apiserver"),
      initialBackoffMilliseconds: settings.initialBackoffMilliseconds,
      dial,
      retryOn: () => true,
    }),
    apiVersion,
    maxBatchBytes: settings.truncate?.maxBatchBytes,
  });
  return buildSink(backend, settings, options, { name: "webhook", concurrent: true, lost });
}

function buildSink(
  inner: AuditBackend,
  settings: BackendSettings,
  { clock, dialect }: AuditOptions,
  of: {
    readonly name: string;
    readonly concurrent: boolean;
    readonly lost: LostEvents;
  },
): AuditSink {
  const { name, concurrent } = of;
  const lost = (count: number, error: Error): void => of.lost(name, count, error);
  const buffered =
    settings.mode === "batch" ? batching(inner, { ...settings, concurrent, clock, lost }) : inner;
  const backend = settings.truncate
    ? truncating(buffered, {
        maxEventBytes: settings.truncate.maxEventBytes,
        apiVersion: settings.apiVersion,
        annotation: `${groupName(dialect, { group: "audit", branded: true })}/truncated`,
        dropped: lost,
      })
    : buffered;
  return sinkOf(backend, { name, mode: settings.mode, lost: of.lost });
}

/** Returns the policy of the file; a changed policy takes effect if it is valid. */
function watchedPolicy({ settings, dialect, log, watchFile }: AuditOptions): () => AuditPolicy {
  const file = settings.policyFile;
  const text = readPolicyFile(file);
  const policy = watchFile("--audit-policy-file", file, (now) => parsePolicy(now, file, dialect), text);
  for (const warning of policy().warnings)
    log.warn("the audit policy has an unknown or duplicate field", { warning });
  return policy;
}
