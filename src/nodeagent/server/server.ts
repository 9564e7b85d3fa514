// The agent's servers: the secure port for everybody who may, the read-only port for reads, the health port
// for the machine itself.
import { networkInterfaces } from "node:os";
import type { TlsOptions } from "node:tls";
import { type Pod as PodType, Pod, inDialect } from "#api";
import { type Clock, type Log, type Metrics, createMetrics } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import {
  type Call,
  type Listener,
  type PlainListener,
  type Reply,
  listen,
  listenPlain,
  plainReply,
} from "#http";
import { encodeJson } from "#schema";
import type { Machine } from "../resources/machine.ts";
import type { Stats } from "../resources/stats.ts";
import type { PodRegistry } from "../interfaces.ts";
import type { Access } from "./access.ts";
import { measuredRequests } from "./agent-metrics.ts";
import { containerLogs } from "./container-logs.ts";
import { profiles, verbosityFlag } from "./debug.ts";
import { cadvisorText } from "./cadvisor-text.ts";
import { resourceText } from "./figures-text.ts";
import { hostLogs } from "./host-logs.ts";
import { podAccess } from "./pod-access.ts";
import { exposition, json, text } from "./replies.ts";
import { type Answer, type Route, router } from "./routes.ts";
import { longestStreamMilliseconds } from "./streaming.ts";
import type { ServingCertificate } from "./serving-certificate.ts";
import { summary } from "./summary.ts";

export interface ServerParts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly registry: PodRegistry;
  readonly runtime: ContainerRuntime;
  readonly metrics: Metrics;
  /** Metrics of the probes alone. */
  readonly probeMetrics: Metrics;
  readonly stats: Stats;
  readonly machine: Machine;
  /** The settled configuration as JSON. */
  readonly configuration: () => unknown;
  readonly setVerbosity: (level: number) => void;
  readonly switches: {
    readonly debugging: boolean;
    readonly systemLogs: boolean;
    readonly profiling: boolean;
    readonly verbosityFlag: boolean;
    readonly checkpoints: boolean;
  };
  readonly hostLogFolder: string;
  readonly checkpointFolder: string;
  readonly streamIdleMilliseconds: number;
}

/** Twice the longest time between two looks at the runtime, and some. */
const stalledMilliseconds = 180_000;

const sure = { "x-content-type-options": "nosniff" };

const healthRoutes = (checks: readonly string[], isStalled: () => boolean): Route[] => {
  const answer =
    (name: string): Answer =>
    () =>
      (name === "syncloop" || name === "") && isStalled()
        ? plainReply(500, "sync loop took longer than expected")
        : text(200, "ok", name === "" ? sure : {});
  return [
    { path: "/healthz", answer: answer("") },
    ...checks.map((name) => ({ path: `/healthz/${name}`, answer: answer(name) })),
  ];
};

/** All paths of the secure port, or of the read-only one. */
export function agentRoutes(parts: ServerParts, port: "secure" | "readonly"): Route[] {
  const { dialect, clock, registry, runtime, metrics, stats, machine, switches } = parts;
  const isStalled = (): boolean => clock.now() - registry.lastRelistAt() > stalledMilliseconds;
  const isDebugging = port === "secure" && switches.debugging;
  const podSchema = inDialect(dialect, Pod);
  const podList = (pods: readonly PodType[]): Reply =>
    json(
      `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":${pods.length === 0 ? "null" : `[${pods.map((pod) => itemText(encodeJson(podSchema, pod as never))).join(",")}]`}}\n`,
    );
  const list: Answer = () => podList(registry.pods());
  const summarized: Answer = async ({ query }) =>
    json(
      `${JSON.stringify(summary(parts.nodeName, machine, await stats.look(), query.get("only_cpu_and_memory") === "true"), null, 1)}\n`,
    );
  const reads: Route[] = [
    ...healthRoutes(["ping", "log", "syncloop"], isStalled),
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
      answer: async () => exposition(metrics.expose() + logSizeText(dialect, await stats.look())),
    },
    {
      path: "/metrics/cadvisor",
      answer: async () => exposition(cadvisorText(await stats.look(), await stats.groups(), machine)),
    },
    { path: "/metrics/resource", answer: async () => exposition(resourceText(await stats.look())) },
    { path: "/metrics/probes", answer: () => exposition(parts.probeMetrics.expose()) },
  ];
  if (port === "readonly")
    reads.push({ path: "/metrics/slis", answer: () => exposition(healthText(dialect, isStalled())) });
  if (!isDebugging) {
    const disabled: Answer = () => plainReply(405, "Debug endpoints are disabled.");
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
  const reach = podAccess({ clock, registry, runtime, limits, checkpointFolder: parts.checkpointFolder });
  const inContainer = (prefix: string, methods: readonly string[], answer: Answer): Route => ({
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
    inContainer("/run", ["POST"], reach.run),
    inContainer("/exec", ["GET", "POST"], reach.exec),
    inContainer("/attach", ["GET", "POST"], reach.attach),
    {
      prefix: "/portForward",
      bare: true,
      routes: ["/{namespace}/{pod}", "/{namespace}/{pod}/{uid}"].map((path) => ({
        path,
        methods: ["GET", "POST"],
        answer: reach.portForward,
      })),
    },
    ...(switches.checkpoints
      ? [
          {
            prefix: "/checkpoint",
            bare: true,
            routes: [{ path: "/{namespace}/{pod}/{container}", methods: ["POST"], answer: reach.checkpoint }],
          },
        ]
      : []),
    {
      path: "/configz",
      answer: () => ({
        ...json(JSON.stringify({ [`${dialect.cli.agent}config`]: parts.configuration() })),
        headers: { "content-type": "application/json", ...sure },
      }),
    },
    {
      prefix: "/logs",
      bare: false,
      routes: switches.systemLogs
        ? [{ path: "/{rest*}", methods: ["GET"], answer: hostLogs(parts.hostLogFolder) }]
        : [],
    },
    {
      prefix: "/debug/pprof",
      bare: false,
      routes: switches.profiling ? [{ path: "/{name}", methods: ["GET"], answer: profiles(clock) }] : [],
    },
    ...(switches.verbosityFlag
      ? [{ path: "/debug/flags/v", answer: verbosityFlag(parts.setVerbosity) }]
      : []),
  ];
}

/** How much disk the logs of containers take; looked up only for those who ask. */
function logSizeText(
  { data: { agentMetricPrefix } }: Dialect,
  { pods }: Awaited<ReturnType<Stats["look"]>>,
): string {
  const metrics = createMetrics();
  const used = metrics.gauge({
    name: `${agentMetricPrefix}container_log_filesystem_used_bytes`,
    help: "Disk that the logs of a container take, in bytes.",
    labels: ["container", "namespace", "pod", "uid"],
    stability: "ALPHA",
  });
  for (const { uid, name, namespace, containers } of pods)
    for (const one of containers) used.with(one.name, namespace, name, uid).set(one.logs.bytes);
  return pods.length === 0 ? "" : metrics.expose();
}

/** The health checks as metrics. */
function healthText({ data: { metricPrefix } }: Dialect, isStalled: boolean): string {
  const metrics = createMetrics();
  const checks = metrics.gauge({
    name: `${metricPrefix}healthcheck`,
    help: "Result of each health check: 1 is healthy.",
    labels: ["name", "type"],
    stability: "ALPHA",
  });
  for (const name of ["log", "ping", "syncloop"])
    checks.with(name, "healthz").set(name === "syncloop" && isStalled ? 0 : 1);
  return metrics.expose();
}

/** Items of a list carry no kind of their own. */
const itemText = (object: string): string => object.replace(/^\{"kind":"Pod","apiVersion":"v1",?/, "{");

/** Answers calls by these routes; whoever asks for what exists is looked at first. */
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
      log.error("a request failed", { path: call.path, error: (error as Error).message });
      return plainReply(500, (error as Error).message);
    }
  };
}

/** The health port's few paths. */
export function healthHandler({
  clock,
  registry,
  log,
}: Pick<ServerParts, "clock" | "registry" | "log">): (call: Call) => Promise<Reply> {
  return handler(
    healthRoutes(["ping"], () => clock.now() - registry.lastRelistAt() > stalledMilliseconds),
    undefined,
    log,
  );
}

export interface Ports {
  readonly address: string;
  /** Zero or undefined is none. */
  readonly secure: number | undefined;
  readonly readOnly: number;
  readonly healthAddress: string;
  readonly health: number;
}

export interface RunningServers {
  /** The ports as bound, where zero was not meant as none. */
  readonly securePort: number | undefined;
  close(): Promise<void>;
}

export async function startServers(
  parts: ServerParts,
  ports: Ports,
  security: { readonly access: Access; readonly certificate: ServingCertificate; readonly tls: TlsOptions },
): Promise<RunningServers> {
  const { clock, log } = parts;
  const host = everyAddress(ports.address);
  const now = (): number => clock.now();
  const open: (Listener | PlainListener)[] = [];
  const { access, certificate, tls } = security;
  const measured = measuredRequests(parts.metrics, parts.dialect, clock);
  let unfollow = (): void => undefined;
  const close = async (): Promise<void> => {
    unfollow();
    access.stop();
    await Promise.all(open.map((listener) => listener.close()));
  };
  try {
    let securePort: number | undefined;
    const { secure: port } = ports;
    if (port !== undefined) {
      const { pair } = certificate;
      const listener = await retryListen(parts, () =>
        listen({
          host,
          port,
          tls: {
            ...tls,
            cert: pair.certificate,
            key: pair.key,
            requestCert: true,
            rejectUnauthorized: false,
          },
          handle: measured("readwrite", handler(agentRoutes(parts, "secure"), access, log)),
          now,
          onProblem: (error) =>
            log.error("a connection was lost by a mistake of this program", {
              error: error.stack ?? error.message,
            }),
        }),
      );
      open.push(listener);
      securePort = listener.address.port;
      unfollow = certificate.follow((next) =>
        listener.setSecureContext({ cert: next.certificate, key: next.key }),
      );
    }
    if (ports.readOnly > 0)
      open.push(
        await retryListen(parts, () =>
          listenPlain({
            host,
            port: ports.readOnly,
            handle: measured("readonly", handler(agentRoutes(parts, "readonly"), undefined, log)),
            now,
          }),
        ),
      );
    if (ports.health > 0)
      open.push(
        await retryListen(parts, () =>
          listenPlain({ host: ports.healthAddress, port: ports.health, handle: healthHandler(parts), now }),
        ),
      );
    return { securePort, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Either way of writing "all addresses" means both families, where the machine has both. */
const everyAddress = (address: string): string => (address === "0.0.0.0" && hasV6() ? "::" : address);
const hasV6 = (): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));

const takenMilliseconds = 30_000;
const againMilliseconds = 250;

/** An agent that is restarted may meet the ports of the one before it, and waits a while for them. */
export async function retryListen<T>(
  { clock, log }: Pick<ServerParts, "clock" | "log">,
  open: () => Promise<T>,
): Promise<T> {
  for (
    const until = clock.now() + takenMilliseconds, told = { once: false };
    ;
    await clock.sleep(againMilliseconds)
  ) {
    try {
      return await open();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EADDRINUSE" || clock.now() >= until) throw error;
      if (!told.once)
        log.warn("a port is taken; the agent waits for it", { error: (error as Error).message });
      told.once = true;
    }
  }
}
