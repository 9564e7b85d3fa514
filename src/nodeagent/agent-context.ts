// The sync context: the parts of the agent that pod workers need to sync a pod.
import { isIPv6 } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Pod, RuntimeClass } from "#api";
import { ApiError, type Clock } from "#base";
import type { ApiClient } from "#client";
import type { AgentDeps } from "./agent-parts.ts";
import type { CredentialProviders } from "./credentials/credential-providers.ts";
import { dockerConfigFiles, nodeCredentials } from "./credentials/node-credentials.ts";
import { images } from "./images/images.ts";
import { pullLimits, pullQueue } from "./images/pull-queue.ts";
import { hooks } from "./lifecycle/hooks.ts";
import type { RuntimeHealth } from "./node/runtime-health.ts";
import { knownGates, resolveGates } from "#options";
import { backOff } from "./plan/backoff.ts";
import { type DnsLimits, dnsLimits } from "./plan/dns.ts";
import { keyOf, referenceTo } from "./pod.ts";
import { type ProbesOptions, probes } from "./probes/probes.ts";
import type { createPodMetrics } from "./server/pod-metrics.ts";
import type { SyncContext } from "./sync/context.ts";
import { type Limiter, limiter } from "./sync/limiter.ts";
import { hostDns, hostDnsProblem } from "./sync/node-files.ts";

export interface ContextParts
  extends
    Pick<
      SyncContext,
      | "cache"
      | "volumes"
      | "cgroups"
      | "objects"
      | "node"
      | "files"
      | "services"
      | "contributors"
      | "resize"
      | "users"
    >,
    Pick<
      SyncContext["settings"],
      "cpu" | "dead" | "logFolder" | "owner" | "reportsNetwork" | "reportsHostIps"
    > {
  readonly podMetrics: ReturnType<typeof createPodMetrics>;
  readonly health: RuntimeHealth;
  readonly credentialProviders?: CredentialProviders | undefined;
  /** Called when the result of a probe changes. */
  readonly onProbe: ProbesOptions["onChange"];
  readonly ignoresLateCommands: boolean;
  readonly legacyHttp: boolean;
  readonly onProbeResult: NonNullable<ProbesOptions["onResult"]>;
}

export function contextFrom(
  { dialect, settings, clock, log, version, machine, runtime, client, events }: AgentDeps,
  parts: ContextParts,
): SyncContext {
  const {
    podMetrics,
    health,
    onProbe,
    onProbeResult,
    cpu,
    dead,
    logFolder,
    owner,
    reportsNetwork,
    reportsHostIps,
    ...others
  } = parts;
  const { credentialProviders, ignoresLateCommands, legacyHttp, ...rest } = others;
  // The user agents of probes and hooks contain the major and minor version only: 1.27.
  const release = /\d+\.\d+/.exec(version)?.[0] ?? version;
  const backOffOptions = { clock, firstMilliseconds: 10_000, longestMilliseconds: 300_000 };
  const queue = pullQueue({ clock, ...pullLimits(settings) });
  return {
    ...rest,
    dialect,
    clock,
    log,
    runtime,
    events,
    podMetrics,
    images: images({
      runtime,
      clock,
      events,
      dialect,
      queue,
      providers: credentialProviders,
      nodeAuths: nodeCredentials({ clock, log, files: dockerConfigFiles(settings.rootDir) }),
      backOff: backOff(backOffOptions),
    }),
    probes: probes({
      runtime,
      clock,
      events,
      node: rest.node,
      userAgent: `${dialect.data.componentPrefix}probe/${release}`,
      ignoresLateCommands,
      onChange: onProbe,
      onResult: onProbeResult,
    }),
    hooks: hooks({
      clock,
      runtime,
      userAgent: `${dialect.data.componentPrefix}lifecycle/${release}`,
      legacyHttp,
      onFallback: (pod, host) => {
        podMetrics.fellBack();
        reportFallback({ log, events }, pod, host);
      },
    }),
    restarts: backOff(restartBackOff(clock, settings["crashLoopBackOff.maxContainerRestartPeriod"])),
    createLimit: sandboxLimiter(clock, availableParallelism()),
    teardownLimit: limiter({ clock, concurrency: 2 * availableParallelism() }),
    settings: {
      clusterServers: settings.clusterDns,
      clusterDomain: settings.clusterDomain,
      hostDns: () => hostDns(settings.resolvConf),
      localServers: settings.resolvConf === "" ? localServersFor(settings.nodeIp) : undefined,
      limits: dnsLimitsFrom(settings),
      logFolder,
      owner,
      reportsNetwork,
      reportsHostIps,
      cpu,
      memoryCapacityBytes: machine.memoryBytes,
      dead,
      hugePageSizes: machine.hugepages.map(({ size }) => size),
      selinux: machine.selinux,
      security: {
        dialect,
        seccompDefault: settings.seccompDefault,
        seccompFolder: join(settings.rootDir, "seccomp"),
      },
    },
    runtimeHandler: (name) => runtimeHandler(client, name),
    networkError: () => health.networkError(),
  };
}

/** Reports that an HTTPS hook was retried over plain HTTP because its server does not speak TLS. */
export function reportFallback(
  { log, events }: Pick<AgentDeps, "log" | "events">,
  pod: Pod,
  host: string,
): void {
  log.warn("lifecycle hook server speaks plain HTTP; retried without TLS", { pod: keyOf(pod), host });
  const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`;
  events.event(referenceTo(pod), "Warning", "LifecycleHTTPFallback", message);
}

/** Returns the loopback address of each of the node's configured IP families. */
const localServersFor = (nodeIps: readonly string[]): readonly string[] =>
  nodeIps.length === 0 ? ["127.0.0.1"] : nodeIps.map((ip) => (isIPv6(ip) ? "::1" : "127.0.0.1"));

const dnsLimitsFrom = ({ featureGates }: Pick<AgentDeps["settings"], "featureGates">): DnsLimits =>
  dnsLimits(resolveGates(knownGates, featureGates).enabled("ExpandedDNSConfig"));

/** Reports a problem of the node's resolver file in an event of the node. */
export function reportResolver({ settings, events, nodeName }: AgentDeps): void {
  const { resolvConf, clusterDomain } = settings;
  const problem = hostDnsProblem(resolvConf, clusterDomain, dnsLimitsFrom(settings));
  const node = { kind: "Node", name: nodeName, uid: nodeName };
  if (problem !== undefined) events.event(node, "Warning", "CheckLimitsForResolvConf", problem);
}

async function runtimeHandler(client: ApiClient | undefined, name: string): Promise<string> {
  if (!client)
    throw new Error(`RuntimeClass ${JSON.stringify(name)} cannot be resolved without an API server`);
  try {
    return (await client.of({ schema: RuntimeClass, plural: "runtimeclasses", namespaced: false }).get(name))
      .handler;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404)
      throw new Error(`RuntimeClass ${JSON.stringify(name)} not found`, { cause: error });
    throw error;
  }
}

/** Options of the restart backoff. The initial delay never exceeds the maximum. */
export const restartBackOff = (clock: Clock, longestMilliseconds = 300_000) => ({
  clock,
  firstMilliseconds: Math.min(10_000, longestMilliseconds),
  longestMilliseconds,
});

/**
 * Limits how many sandboxes are created concurrently. A slow creation mostly waits, for kernel locks or for
 * other work on the machine; after a short time it no longer counts against the limit, so that the limit does
 * not determine how long many pods take to start.
 */
export const sandboxLimiter = (clock: Clock, processors: number): Limiter =>
  limiter({ clock, concurrency: processors + 1, slotMilliseconds: 300 });
