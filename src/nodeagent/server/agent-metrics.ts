// Metrics of the agent under `/metrics`: its pods, process, requests and runtime operations.
import type { Pod } from "#api";
import { type Clock, type Family, type Gauge, type Metrics, processMetrics } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import type { Call, Reply } from "#http";
import { isStatic, uidOf } from "../pod.ts";
import type { PodRegistry, WorkingPod } from "../interfaces.ts";
import { pluginNameOf } from "../volumes/plugin-name.ts";

export interface AgentMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly version: string;
  readonly registry: PodRegistry;
  readonly working: () => readonly WorkingPod[];
  /** Returns the number of mirror pods in the API server. */
  readonly mirrors: () => number;
  /** Returns the mounted volumes of a pod by name. */
  readonly mounted: (podUid: string) => ReadonlyMap<string, unknown>;
  readonly gates: readonly { readonly name: string; readonly stage: string; readonly enabled: boolean }[];
}

/** Registers gauges that are computed on each scrape. */
export function agentMetrics(options: AgentMetricsOptions): void {
  const { metrics, clock, dialect, nodeName, version, registry } = options;
  const { agentMetricPrefix: prefix, metricPrefix } = dialect.data;
  const gauge = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.gauge({ name, help, labels, stability: "ALPHA" });
  gauge(`${prefix}node_name`, "Constant 1 with the name of the node as a label.", ["node"])
    .with(nodeName)
    .set(1);
  const [major = "", minor = ""] = version.replace(/^v/, "").split(".");
  gauge(`${metricPrefix}build_info`, "Constant 1 with the version of the program as labels.", [
    "git_version",
    "major",
    "minor",
    "platform",
  ])
    .with(version, major, minor, `linux/${process.arch}`)
    .set(1);
  const active = gauge(
    `${prefix}active_pods`,
    "Number of pods on the node that have not terminated, by whether they are static.",
    ["static"],
  );
  const desired = gauge(
    `${prefix}desired_pods`,
    "Number of pods assigned to the node, by whether they are static.",
    ["static"],
  );
  const running = gauge(`${prefix}running_pods`, "Number of pods that have a running container.");
  const containers = gauge(`${prefix}running_containers`, "Number of containers, by state.", [
    "container_state",
  ]);
  const seen = gauge(
    `${prefix}pleg_last_seen_seconds`,
    "Time of the last relist of the container runtime in seconds since the Unix epoch.",
  );
  const ephemeral = gauge(
    `${prefix}managed_ephemeral_containers`,
    "Number of ephemeral containers in the pods of the node.",
  ).with();
  const mirrors = gauge(`${prefix}mirror_pods`, "Number of mirror pods in the API server.").with();
  const working = gauge(
    `${prefix}working_pods`,
    "Number of pods handled by pod workers, by lifecycle, configuration and whether they are static.",
    ["config", "lifecycle", "static"],
  );
  const volumes = gauge(
    "volume_manager_total_volumes",
    "Number of volumes, by plugin and state: desired or actually mounted.",
    ["plugin_name", "state"],
  );
  const feature = gauge(
    `${metricPrefix}feature_enabled`,
    "Whether a feature gate is enabled: 1 if it is, 0 if not; labeled by name and stage.",
    ["name", "stage"],
  );
  for (const { name, stage, enabled } of options.gates)
    feature.with(dialect.spelling.word(name), stage === "GA" ? "" : stage).set(enabled ? 1 : 0);
  processMetrics(metrics);
  metrics.beforeScrape(() => {
    const pods = registry.pods();
    for (const kind of [true, false]) {
      const ofKind = pods.filter((pod) => isStatic(pod, dialect) === kind);
      desired.with(String(kind)).set(ofKind.length);
      active
        .with(String(kind))
        .set(ofKind.filter(({ status }) => status.phase !== "Succeeded" && status.phase !== "Failed").length);
    }
    const states = pods.map((pod) => registry.containers(uidOf(pod)));
    running.with().set(states.filter((all) => all.some(({ state }) => state === "running")).length);
    for (const state of ["created", "running", "exited", "unknown"] as const)
      containers.with(state).set(states.flat().filter((one) => one.state === state).length);
    seen.with().set((clock.now() - registry.sinceRelist()) / 1000);
    ephemeral.set(pods.reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0));
    mirrors.set(options.mirrors());
    countByLabels(
      working,
      options.working().map(({ config, lifecycle, static: kind }) => [config, lifecycle, kind]),
    );
    countByLabels(
      volumes,
      pods
        .filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed")
        .flatMap((pod) => volumesOf(pod, dialect, options.mounted(uidOf(pod)))),
    );
  });
}

/** Sets each series to the number of occurrences of its labels; other series are cleared. */
function countByLabels(family: Family<Gauge>, occurring: readonly (readonly string[])[]): void {
  family.clear();
  for (const labels of occurring) family.with(...labels).add();
}

function volumesOf(pod: Pod, dialect: Dialect, mounted: ReadonlyMap<string, unknown>): string[][] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const plugin = pluginNameOf(volume, dialect);
    return [
      [plugin, "desired_state_of_world"],
      ...(mounted.has(volume.name) ? [[plugin, "actual_state_of_world"]] : []),
    ];
  });
}

type Handle = (call: Call) => Promise<Reply>;

const known = [
  "attach",
  "configz",
  "containerLogs",
  "checkpoint",
  "debug",
  "exec",
  "healthz",
  "logs",
  "metrics",
  "pods",
  "portForward",
  "run",
  "runningpods",
  "stats",
];
/** A client may send any word as a method, even before it is authenticated. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"];
const longRunning = ["attach", "exec", "portForward"];

/** Counts and times requests by the first component of their path. */
export function measuredRequests(
  metrics: Metrics,
  dialect: Dialect,
  clock: Clock,
): (server: "readonly" | "readwrite", handle: Handle) => Handle {
  const prefix = dialect.data.agentMetricPrefix;
  const labels = ["long_running", "method", "path", "server_type"];
  const total = metrics.counter({
    name: `${prefix}http_requests_total`,
    help: "Number of HTTP requests received, by method, path, server type and long-running flag.",
    labels,
    stability: "ALPHA",
  });
  const inFlight = metrics.gauge({
    name: `${prefix}http_inflight_requests`,
    help: "Number of HTTP requests in flight, by method, path, server type and long-running flag.",
    labels,
    stability: "ALPHA",
  });
  const seconds = metrics.histogram({
    name: `${prefix}http_requests_duration_seconds`,
    help: "Duration of HTTP requests in seconds, by method, path, server type and long-running flag.",
    labels,
    stability: "ALPHA",
  });
  return (server, handle) => async (call) => {
    const first = call.path.split("/", 2)[1] ?? "";
    const values = [
      String(longRunning.includes(first)),
      methods.includes(call.method) ? call.method : "other",
      known.includes(first) ? first : "other",
      server,
    ];
    const at = clock.monotonic();
    total.with(...values).add();
    inFlight.with(...values).add();
    try {
      return await handle(call);
    } finally {
      inFlight.with(...values).add(-1);
      seconds.with(...values).observe((clock.monotonic() - at) / 1000);
    }
  };
}

/** In seconds, from 5 ms to half an hour. */
const runtimeBuckets = Array.from({ length: 14 }, (_each, power) =>
  Number((0.005 * 2.5 ** power).toPrecision(15)),
);

/** Counts and times the creation of sandboxes by runtime handler. */
function sandboxMetrics(
  metrics: Metrics,
  prefix: string,
): (handler: string, seconds: number, isGood: boolean) => void {
  const labels = ["runtime_handler"];
  const took = metrics.histogram({
    name: `${prefix}run_podsandbox_duration_seconds`,
    help: "Duration of RunPodSandbox calls in seconds, by runtime handler.",
    labels,
    stability: "ALPHA",
  });
  const errors = metrics.counter({
    name: `${prefix}run_podsandbox_errors_total`,
    help: "Cumulative number of failed RunPodSandbox calls, by runtime handler.",
    labels,
    stability: "ALPHA",
  });
  const pods = metrics
    .counter({
      name: `${prefix}started_pods_total`,
      help: "Cumulative number of pod starts attempted.",
      stability: "ALPHA",
    })
    .with();
  const failed = metrics
    .counter({
      name: `${prefix}started_pods_errors_total`,
      help: "Cumulative number of pod starts that failed.",
      stability: "ALPHA",
    })
    .with();
  return (handler, seconds, isGood) => {
    took.with(handler).observe(seconds);
    pods.add();
    if (isGood) return;
    errors.with(handler).add();
    failed.add();
  };
}

/** Converts `runPodSandbox` to `run_podsandbox`. */
const operationName = (method: string): string =>
  method
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replace("pod_sandboxes", "podsandbox")
    .replace("pod_sandbox", "podsandbox");

/** Wraps a runtime so that its calls are counted and timed, and their errors counted. */
export function measuredRuntime(
  runtime: ContainerRuntime,
  metrics: Metrics,
  dialect: Dialect,
  clock: Clock,
): ContainerRuntime {
  const prefix = dialect.data.agentMetricPrefix;
  const labels = ["operation_type"];
  const total = metrics.counter({
    name: `${prefix}runtime_operations_total`,
    help: "Cumulative number of container runtime operations, by type.",
    labels,
    stability: "ALPHA",
  });
  const errors = metrics.counter({
    name: `${prefix}runtime_operations_errors_total`,
    help: "Cumulative number of failed container runtime operations, by type.",
    labels,
    stability: "ALPHA",
  });
  const seconds = metrics.histogram({
    name: `${prefix}runtime_operations_duration_seconds`,
    help: "Duration of container runtime operations in seconds, by type.",
    labels,
    buckets: runtimeBuckets,
    stability: "ALPHA",
  });
  const sandboxes = sandboxMetrics(metrics, prefix);
  const measured = new Map<string | symbol, unknown>();
  return new Proxy(runtime, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      // An event stream has no end that could be timed, and close is not a call.
      if (
        typeof method !== "function" ||
        typeof name !== "string" ||
        name === "close" ||
        name === "containerEvents"
      )
        return typeof method === "function" ? method.bind(target) : method;
      if (!measured.has(name)) {
        const operation = operationName(name);
        measured.set(name, async (...given: readonly unknown[]): Promise<unknown> => {
          const at = clock.monotonic();
          total.with(operation).add();
          let isGood = false;
          try {
            const answer = await (method.apply(target, given) as Promise<unknown>);
            isGood = true;
            return answer;
          } catch (error) {
            errors.with(operation).add();
            throw error;
          } finally {
            seconds.with(operation).observe((clock.monotonic() - at) / 1000);
            if (name === "runPodSandbox")
              sandboxes(String(given[1] ?? ""), (clock.monotonic() - at) / 1000, isGood);
          }
        });
      }
      return measured.get(name);
    },
  });
}
