// What the agent tells of itself under `/metrics`: its pods, its process, its requests, and its dealings with the runtime.
import { readFileSync, readdirSync } from "node:fs";
import type { Clock, Metrics } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import type { Call, Reply } from "#http";
import { isStatic, uidOf } from "../pod.ts";
import type { PodRegistry } from "../seams.ts";

export interface AgentMetricsOptions {
  readonly metrics: Metrics;
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly version: string;
  readonly registry: PodRegistry;
}

/** Gauges that are looked up when someone asks. */
export function agentMetrics({ metrics, dialect, nodeName, version, registry }: AgentMetricsOptions): void {
  const { agentMetricPrefix: prefix, metricPrefix } = dialect.data;
  const gauge = (name: string, help: string, labels: readonly string[] = []) => metrics.gauge({ name, help, labels, stability: "ALPHA" });
  gauge(`${prefix}node_name`, "The node's name, as the label of a constant 1.", ["node"]).with(nodeName).set(1);
  const [major = "", minor = ""] = version.replace(/^v/, "").split(".");
  gauge(`${metricPrefix}build_info`, "The version, as labels of a constant 1.", ["git_version", "major", "minor", "platform"])
    .with(version, major, minor, `linux/${process.arch}`)
    .set(1);
  const active = gauge(`${prefix}active_pods`, "Pods that take up room on the node.", ["static"]);
  const desired = gauge(`${prefix}desired_pods`, "Pods that should be on the node.", ["static"]);
  const running = gauge(`${prefix}running_pods`, "Pods with a running container.");
  const containers = gauge(`${prefix}running_containers`, "Containers by their state.", ["container_state"]);
  const seen = gauge(`${prefix}pleg_last_seen_seconds`, "When the runtime was last looked at, in seconds since the epoch.");
  const self = processGauges(metrics);
  metrics.beforeScrape(() => {
    const pods = registry.pods();
    for (const kind of [true, false]) {
      const ofKind = pods.filter((pod) => isStatic(pod, dialect) === kind);
      desired.with(String(kind)).set(ofKind.length);
      active.with(String(kind)).set(ofKind.filter(({ status }) => status.phase !== "Succeeded" && status.phase !== "Failed").length);
    }
    const states = pods.map((pod) => registry.containers(uidOf(pod)));
    running.with().set(states.filter((all) => all.some(({ state }) => state === "running")).length);
    for (const state of ["created", "running", "exited", "unknown"] as const) containers.with(state).set(states.flat().filter((one) => one.state === state).length);
    seen.with().set(registry.lastRelistAt() / 1000);
    self();
  });
}

function processGauges(metrics: Metrics): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with();
  const cpu = metrics.counter({ name: "process_cpu_seconds_total", help: "Processor time of the process, in seconds." }).with();
  const resident = gauge("process_resident_memory_bytes", "Memory of the process that is in use, in bytes.");
  const open = gauge("process_open_fds", "Files that the process has open.");
  const most = gauge("process_max_fds", "Files that the process may have open.");
  gauge("process_start_time_seconds", "When the process started, in seconds since the epoch.").set(Math.round(performance.timeOrigin) / 1000);
  return () => {
    const { user, system } = process.cpuUsage();
    cpu.value = (user + system) / 1e6;
    resident.set(process.memoryUsage.rss());
    open.set(readdirSync("/proc/self/fd").length);
    most.set(Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0));
  };
}

type Handle = (call: Call) => Promise<Reply>;

const known = ["attach", "configz", "containerLogs", "checkpoint", "debug", "exec", "healthz", "logs", "metrics", "pods", "portForward", "run", "runningpods", "stats"];
const longRunning = ["attach", "exec", "portForward"];

/** Counts and times requests by the first part of their path. */
export function measuredRequests(metrics: Metrics, dialect: Dialect, clock: Clock): (server: "readonly" | "readwrite", handle: Handle) => Handle {
  const prefix = dialect.data.agentMetricPrefix;
  const labels = ["long_running", "method", "path", "server_type"];
  const total = metrics.counter({ name: `${prefix}http_requests_total`, help: "Requests to the agent's server.", labels, stability: "ALPHA" });
  const inFlight = metrics.gauge({ name: `${prefix}http_inflight_requests`, help: "Requests being answered.", labels, stability: "ALPHA" });
  const seconds = metrics.histogram({ name: `${prefix}http_requests_duration_seconds`, help: "How long answers took, in seconds.", labels, stability: "ALPHA" });
  return (server, handle) => async (call) => {
    const first = call.path.split("/", 2)[1] ?? "";
    const values = [String(longRunning.includes(first)), call.method, known.includes(first) ? first : "other", server];
    const at = clock.now();
    total.with(...values).add();
    inFlight.with(...values).add();
    try {
      return await handle(call);
    } finally {
      inFlight.with(...values).add(-1);
      seconds.with(...values).observe((clock.now() - at) / 1000);
    }
  };
}

/** `runPodSandbox` → `run_podsandbox`. */
const operationName = (method: string): string =>
  method
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replace("pod_sandboxes", "podsandbox")
    .replace("pod_sandbox", "podsandbox");

/** A runtime whose calls are counted, timed, and their errors counted. */
export function measuredRuntime(runtime: ContainerRuntime, metrics: Metrics, dialect: Dialect, clock: Clock): ContainerRuntime {
  const prefix = dialect.data.agentMetricPrefix;
  const labels = ["operation_type"];
  const total = metrics.counter({ name: `${prefix}runtime_operations_total`, help: "Calls to the container runtime.", labels, stability: "ALPHA" });
  const errors = metrics.counter({ name: `${prefix}runtime_operations_errors_total`, help: "Calls to the container runtime that failed.", labels, stability: "ALPHA" });
  const seconds = metrics.histogram({
    name: `${prefix}runtime_operations_duration_seconds`,
    help: "How long calls to the container runtime took, in seconds.",
    labels,
    stability: "ALPHA",
  });
  const measured = new Map<string | symbol, unknown>();
  return new Proxy(runtime, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      // A stream of events has no end to be timed, and closing is no call.
      if (typeof method !== "function" || typeof name !== "string" || name === "close" || name === "containerEvents")
        return typeof method === "function" ? method.bind(target) : method;
      if (!measured.has(name)) {
        const operation = operationName(name);
        measured.set(name, async (...given: readonly unknown[]): Promise<unknown> => {
          const at = clock.now();
          total.with(operation).add();
          try {
            return await (method.apply(target, given) as Promise<unknown>);
          } catch (error) {
            errors.with(operation).add();
            throw error;
          } finally {
            seconds.with(operation).observe((clock.now() - at) / 1000);
          }
        });
      }
      return measured.get(name);
    },
  });
}
