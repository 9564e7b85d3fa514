// The routes of the agent's ports: the secure port for authorized users, the read-only port for reads, the
// health port for local checks.
import { type Pod as PodType, Pod, inDialect } from "#api";
import { type Clock, type Log, type Metrics, createMetrics } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { type Call, type HealthCheck, type HealthMetrics, type Reply, metricsReset, plainReply } from "#http";
import { encodeJson } from "#schema";
import type { Contention } from "#tracing";
import type { Machine } from "../resources/machine.ts";
import type { Stats } from "../resources/stats.ts";
import { errorText } from "../errors.ts";
import type { PodRegistry } from "../interfaces.ts";
import type { Access } from "./access.ts";
import { containerLogs } from "./container-logs.ts";
import { profiles, verbosityFlag } from "./debug.ts";
import { cadvisorText, failedCadvisorText, machineText } from "./cadvisor-text.ts";
import { resourceText } from "./metrics-text.ts";
import { healthRoutes } from "./health.ts";
import { hostLogs } from "./host-logs.ts";
import { podAccess } from "./pod-access.ts";
import { exposition, json, text } from "./replies.ts";
import { type RouteHandler, type Route, router } from "./routes.ts";
import { longestStreamMilliseconds } from "./streaming.ts";
import { runtimeMetrics } from "./runtime-metrics.ts";
import { volumeStatsText } from "./volume-stats-text.ts";
import { summary } from "./summary.ts";

export interface ServerParts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly registry: PodRegistry;
  readonly runtime: ContainerRuntime;
  readonly metrics: Metrics;
  /** Metrics of the probes only. */
  readonly probeMetrics: Metrics;
  readonly stats: Stats;
  readonly machine: Machine;
  /** Results of the health checks of all ports. */
  readonly healthMetrics: HealthMetrics;
  /** Returns the effective configuration as JSON. */
  readonly configuration: () => unknown;
  readonly setVerbosity: (level: number) => void;
  /** Recorder of event loop delays, if enabled. */
  readonly contention?: Contention | undefined;
  /** Return what eviction would do now, and the plan of a node shutdown, as JSON. */
  readonly previews?: {
    readonly eviction: (signal: AbortSignal) => Promise<string>;
    readonly shutdown: () => string;
  };
  readonly switches: {
    readonly debugging: boolean;
    readonly systemLogs: boolean;
    readonly logQueries?: boolean;
    readonly profiling: boolean;
    readonly verbosityFlag: boolean;
    readonly checkpoints: boolean;
    /** Whether container metrics come from the runtime. */
    readonly runtimeMetrics?: boolean;
    /** The one port that serves health check metrics. */
    readonly healthMetrics?: "secure" | "readonly" | undefined;
  };
  readonly hostLogFolder: string;
  readonly checkpointFolder: string;
  readonly streamIdleMilliseconds: number;
}

/** Slightly more than twice the longest relist period. */
const stalledMilliseconds = 180_000;
const previewMilliseconds = 10_000;

const nosniff = { "x-content-type-options": "nosniff" };

const ping: HealthCheck = { name: "ping", check: () => undefined };
const logging: HealthCheck = { name: "log", check: () => undefined };

/** Returns all routes of the secure or the read-only port. */
export function agentRoutes(parts: ServerParts, port: "secure" | "readonly"): Route[] {
  const { dialect, clock, log, registry, runtime, metrics, stats, machine, switches } = parts;
  const isStalled = (): boolean => registry.sinceRelist() > stalledMilliseconds;
  const ofRuntime = switches.runtimeMetrics ? runtimeMetrics(runtime) : undefined;
  const isDebugging = port === "secure" && switches.debugging;
  const podSchema = inDialect(dialect, Pod);
  const podList = (pods: readonly PodType[]): Reply =>
    json(
      `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":${pods.length === 0 ? "null" : `[${pods.map((pod) => itemText(encodeJson(podSchema, pod as never))).join(",")}]`}}\n`,
    );
  const list: RouteHandler = () => podList(registry.pods());
  const summarized: RouteHandler = async ({ query }) =>
    json(
      `${JSON.stringify(summary(parts.nodeName, machine, await stats.get(), query.get("only_cpu_and_memory") === "true"), null, 1)}\n`,
    );
  /** Logs a failure and resolves with undefined, so that other metrics are still served. */
  const orUndefined = <T>(figures: Promise<T>): Promise<T | undefined> =>
    figures.catch((error: unknown) => {
      log.warn("failed to get stats for metrics", { error: errorText(error) });
      return undefined;
    });
  const reads: Route[] = [
    ...healthRoutes(
      [
        ping,
        logging,
        {
          name: "syncloop",
          check: () => {
            if (isStalled()) throw new Error("sync Loop took longer than expected");
          },
        },
      ],
      parts.healthMetrics,
    ),
    {
      prefix: "/pods",
      bare: true,
      routes: [
        { path: "", methods: ["GET"], answer: list },
        { path: "/", methods: ["GET"], answer: list },
      ],
    },
    {
      prefix: "/stats",
      bare: false,
      routes: [{ path: "/summary", methods: ["GET", "POST"], answer: summarized }],
    },
    {
      path: "/metrics",
      answer: async ({ call }) => {
        const figures = await orUndefined(stats.get());
        const ofPods = figures ? logSizeText(dialect, figures) + volumeStatsText(dialect, figures) : "";
        return exposition(metrics.expose() + ofPods, call);
      },
    },
    {
      path: "/metrics/cadvisor",
      answer: async ({ call }) => {
        if (ofRuntime) return exposition((await ofRuntime()) + machineText(machine), call);
        const both = await orUndefined(Promise.all([stats.get(), stats.groups()]));
        return exposition(both ? cadvisorText(...both, machine) : failedCadvisorText(machine), call);
      },
    },
    {
      path: "/metrics/resource",
      answer: async ({ call }) => exposition(resourceText(await orUndefined(stats.get())), call),
    },
    { path: "/metrics/probes", answer: ({ call }) => exposition(parts.probeMetrics.expose(), call) },
  ];
  const { previews } = parts;
  if (previews && port === "secure")
    reads.push(
      {
        path: "/eviction/preview",
        answer: async () => json(await previews.eviction(AbortSignal.timeout(previewMilliseconds))),
      },
      { path: "/shutdown/plan", answer: () => json(previews.shutdown()) },
    );
  if (port === switches.healthMetrics)
    reads.push({
      path: "/metrics/slis",
      answer: ({ call }) => {
        if (call.method !== "DELETE") return exposition(parts.healthMetrics.expose(), call);
        parts.healthMetrics.reset();
        return text(200, metricsReset);
      },
    });
  if (!isDebugging) {
    const disabled: RouteHandler = () => plainReply(405, "Debug endpoints are disabled.");
    return [
      ...reads,
      ...[
        "/runningpods",
        "/containerLogs",
        "/run",
        "/exec",
        "/attach",
        "/portForward",
        "/logs",
        "/debug/pprof",
      ].map((prefix): Route => ({ prefix, answer: disabled })),
    ];
  }
  const limits = {
    idleMilliseconds: parts.streamIdleMilliseconds,
    wholeMilliseconds: longestStreamMilliseconds,
    dialect,
  };
  const podHandlers = podAccess({
    clock,
    registry,
    runtime,
    limits,
    checkpointFolder: parts.checkpointFolder,
  });
  const inContainer = (prefix: string, methods: readonly string[], answer: RouteHandler): Route => ({
    prefix,
    bare: true,
    routes: ["/{namespace}/{pod}/{container}", "/{namespace}/{pod}/{uid}/{container}"].map((path) => ({
      path,
      methods,
      answer,
    })),
  });
  return [
    ...reads,
    {
      prefix: "/runningpods",
      bare: false,
      routes: [{ path: "/", methods: ["GET"], answer: async () => podList(await registry.runningPods()) }],
    },
    {
      prefix: "/containerLogs",
      bare: true,
      routes: [
        {
          path: "/{namespace}/{pod}/{container}",
          methods: ["GET"],
          answer: containerLogs({ clock, registry, runtime }),
        },
      ],
    },
    inContainer("/run", ["POST"], podHandlers.run),
    inContainer("/exec", ["GET", "POST"], podHandlers.exec),
    inContainer("/attach", ["GET", "POST"], podHandlers.attach),
    {
      prefix: "/portForward",
      bare: true,
      routes: ["/{namespace}/{pod}", "/{namespace}/{pod}/{uid}"].map((path) => ({
        path,
        methods: ["GET", "POST"],
        answer: podHandlers.portForward,
      })),
    },
    ...(switches.checkpoints
      ? [
          {
            prefix: "/checkpoint",
            bare: true,
            routes: [
              { path: "/{namespace}/{pod}/{container}", methods: ["POST"], answer: podHandlers.checkpoint },
            ],
          },
        ]
      : []),
    {
      path: "/configz",
      answer: () => ({
        ...json(JSON.stringify({ [`${dialect.cli.agent}config`]: parts.configuration() })),
        headers: { "content-type": "application/json", ...nosniff },
      }),
    },
    ...(switches.systemLogs
      ? []
      : [{ prefix: "/logs", answer: (): Reply => plainReply(405, "logs endpoint is disabled.") }]),
    {
      prefix: "/logs",
      bare: false,
      routes: switches.systemLogs
        ? [{ path: "/{rest*}", methods: ["GET"], answer: hostLogs(parts.hostLogFolder, switches.logQueries) }]
        : [],
    },
    {
      prefix: "/debug/pprof",
      bare: false,
      routes: switches.profiling
        ? [{ path: "/{name}", methods: ["GET"], answer: profiles(clock, parts.contention) }]
        : [],
    },
    ...(switches.verbosityFlag
      ? [{ path: "/debug/flags/v", answer: verbosityFlag(parts.setVerbosity) }]
      : []),
  ];
}

/** Formats the disk usage of container logs; computed on each scrape. */
function logSizeText(
  { data: { agentMetricPrefix } }: Dialect,
  { pods }: Awaited<ReturnType<Stats["get"]>>,
): string {
  const metrics = createMetrics();
  const used = metrics.gauge({
    name: `${agentMetricPrefix}container_log_filesystem_used_bytes`,
    help: "Disk space used by the logs of a container in bytes.",
    labels: ["container", "namespace", "pod", "uid"],
    stability: "ALPHA",
  });
  for (const { uid, name, namespace, containers } of pods)
    for (const one of containers) used.with(one.name, namespace, name, uid).set(one.logs.bytes);
  return pods.length === 0 ? "" : metrics.expose();
}

/** Items of a list carry no kind. */
const itemText = (object: string): string => object.replace(/^\{"kind":"Pod","apiVersion":"v1",?/, "{");

/** Returns a handler for these routes; requests for existing routes are authorized first. */
export function handler(
  routes: readonly Route[],
  access: Pick<Access, "refuse"> | undefined,
  log: Log,
): (call: Call) => Promise<Reply> {
  const find = router(routes);
  return async (call) => {
    try {
      const found = find(call);
      if (!found.found) return found.reply;
      return (await access?.refuse(call)) ?? (await found.answer());
    } catch (error) {
      log.error("request failed", { path: call.path, error: (error as Error).message });
      return plainReply(500, (error as Error).message);
    }
  };
}

/** Returns the handler of the health port. */
export function healthHandler({
  log,
  healthMetrics,
}: Pick<ServerParts, "log" | "healthMetrics">): (call: Call) => Promise<Reply> {
  return handler(healthRoutes([ping], healthMetrics), undefined, log);
}
