// Common runtime of programs that are clients of the API server: connects, takes part in leader election
// where enabled, serves health and metrics, and runs until a stop is requested.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Metrics, type RootLog, systemClock } from "#base";
import {
  type ApiClient,
  type HttpsOptions,
  apiClient,
  connectionOf,
  counted,
  credentialProgramMetrics,
  https,
  readClientConfig,
  requestMetrics,
} from "#client";
import { accountClients, leaderHealth, runAsLeader } from "#controllerkit";
import { type Dialect, componentAgent } from "#dialect";
import type { HealthCheck } from "#http";
import { ownMemory, returnMemory } from "../memory-return.ts";
import { reasonToStop, notifySupervisor } from "../up/channel.ts";
import { openHealthPort } from "./health-port.ts";
import { leaderStatus } from "./leader-status.ts";
import { programMetrics } from "./program-metrics.ts";

export interface ControlSettings {
  readonly orchconfig: string;
  readonly bindAddress: string;
  readonly port: number;
  /** Undefined for programs that run on every node; these report their readiness themselves. */
  readonly leaderElect?: boolean;
  readonly leaderElectLeaseDuration?: number;
  readonly leaderElectRenewDeadline?: number;
  readonly leaderElectRetryPeriod?: number;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
  /** The release of the API server, for programs that depend on it. */
  readonly release?: string;
}

export interface ControlRun {
  readonly client: ApiClient;
  /** Returns the client of a service account in the system namespace. */
  readonly asAccount: (name: string) => ApiClient;
  readonly metrics: Metrics;
  /** Health checks in addition to leader election; more may be added. */
  readonly checks: HealthCheck[];
  readonly signal: AbortSignal;
}

/** The component name of a program and its dialect. */
export interface ProgramName {
  readonly component: string;
  readonly dialect: Dialect;
  /** Reports whether a feature gate is enabled. */
  readonly enabled: (gate: string) => boolean;
}

/** Runs the program; resolves with the exit code. */
export async function runProgram(
  { component, dialect, enabled }: ProgramName,
  settings: ControlSettings,
  log: RootLog,
  run: (parts: ControlRun) => Promise<void>,
): Promise<number> {
  const metrics = programMetrics({ dialect, enabled }, settings.release);
  const userAgent = componentAgent(dialect, component);
  const connection = connectionOf(readClientConfig(settings.orchconfig));
  const requests = requestMetrics(metrics, systemClock, new URL(connection.server).host);
  credentialProgramMetrics(metrics);
  const transport = counted(https({ ...connection, userAgent }), requests);
  const client = apiClient(transport, dialect);
  const anonymous = counted(https({ ...withoutCredentials(connection), userAgent }), requests);
  const namespace = dialect.data.systemNamespace;
  const asAccount = accountClients({ client, transport: anonymous, clock: systemClock, namespace });
  const stopping = new AbortController();
  const election = settings.leaderElect
    ? leaderHealth(systemClock, settings.leaderElectResourceName!, settings.leaderElectLeaseDuration!)
    : undefined;
  const checks: HealthCheck[] = election ? [election] : [];
  const serving =
    settings.port === 0
      ? undefined
      : await openHealthPort({
          address: settings.bindAddress,
          port: settings.port,
          dialect,
          metrics,
          checks: () => checks,
          exportsHealthMetrics: enabled("ComponentSLIs"),
          resetsMetrics: component === "scheduler",
        });
  const work = (signal: AbortSignal): Promise<void> => run({ client, asAccount, metrics, checks, signal });
  const running: Promise<string> = settings.leaderElect
    ? runAsLeader(
        {
          client,
          clock: systemClock,
          signal: stopping.signal,
          log,
          namespace: settings.leaderElectResourceNamespace || dialect.data.systemNamespace,
          name: settings.leaderElectResourceName!,
          identity: `${hostname()}_${randomUUID()}`,
          leaseMilliseconds: settings.leaderElectLeaseDuration!,
          renewMilliseconds: settings.leaderElectRenewDeadline!,
          retryMilliseconds: settings.leaderElectRetryPeriod!,
          onRenewal: election?.renewed,
        },
        leaderStatus(metrics, settings.leaderElectResourceName!, work),
      )
    : work(stopping.signal).then(() => "stopped");
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  void returnMemory(ownMemory(systemClock), stopping.signal);
  if (settings.leaderElect !== undefined) notifySupervisor({ ready: "" });
  const reason = await Promise.race([reasonToStop(), running]);
  log.info("stopping", { reason });
  stopping.abort();
  const outcome = await running.catch((error: unknown) => {
    log.error("terminated by an error", { error: (error as Error).message });
    return "failed";
  });
  clearInterval(keepAlive);
  serving?.();
  transport.close();
  anonymous.close();
  log.flush();
  return outcome === "stopped" ? 0 : 1;
}

/** Returns options for the same server without credentials. */
function withoutCredentials({ server, secrets, insecure, serverName }: HttpsOptions): HttpsOptions {
  return {
    server,
    ...(secrets && { secrets: () => ({ ca: secrets().ca }) }),
    ...(insecure !== undefined && { insecure }),
    ...(serverName !== undefined && { serverName }),
  };
}
