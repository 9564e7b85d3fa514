// Metrics of pod work: pod start latency, worker actions, status writes, container starts.
import type { Pod } from "#api";
import { type Clock, type Metrics, millisOfTime } from "#base";
import type { Dialect } from "#dialect";
import { isStatic, uidOf } from "../pod.ts";
import type { PodCgroups, PodMetrics } from "../interfaces.ts";

export interface PodWorkMetrics extends PodMetrics {
  /** Records a relist of all pods of the runtime. */
  relisted(milliseconds: number, intervalMilliseconds: number): void;
  /** Records a status written to the API server. */
  written(milliseconds: number): void;
  /** Records an eviction. */
  evicted(signal: string): void;
  /** Records an opened or failed stream of runtime events. */
  eventStreamOpened(isOpen: boolean): void;
  /** Records the latency of a runtime event. */
  eventLatency(latencyMilliseconds: number): void;
  /** Records a change of a pod that could not be inspected. */
  discarded(): void;
  /** Records a round of housekeeping. */
  cleared(cleared: number, failed: number): void;
  /** Records a lifecycle hook that fell back to plain HTTP. */
  fellBack(): void;
  /** Wraps the cgroup operations to time them. */
  cgroups<T extends PodCgroups>(groups: T): T;
}

interface Known {
  readonly seenAt: number;
  hasActed: boolean;
  isRunning: boolean;
  pullMilliseconds: number;
}

const statusBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60];
const startBuckets = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700,
  3600,
];

/**
 * Registers the metrics. If `fallsBack` is false, HTTPS hooks never use HTTP, and their metric is not
 * registered.
 */
export function createPodMetrics(
  metrics: Metrics,
  dialect: Dialect,
  clock: Clock,
  { fallsBack } = { fallsBack: true },
): PodWorkMetrics {
  const prefix = dialect.data.agentMetricPrefix;
  const timed = (
    name: string,
    help: string,
    more: { readonly labels?: readonly string[]; readonly buckets?: readonly number[] } = {},
  ) =>
    metrics.histogram({
      name: `${prefix}${name}_duration_seconds`,
      help: `${help} in seconds.`,
      stability: "ALPHA",
      ...more,
    });
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.counter({ name: `${prefix}${name}`, help, labels, stability: "ALPHA" });
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `${prefix}${name}`, help, stability: "ALPHA" }).with();

  const perPod = metrics
    .histogram({
      name: `${prefix}containers_per_pod_count`,
      help: "Number of containers of each added pod.",
      buckets: [1, 2, 4, 8, 16],
      stability: "ALPHA",
    })
    .with();
  const worked = timed("pod_worker", "Duration of a single pod sync, by operation,", {
    labels: ["operation_type"],
  });
  const waited = timed("pod_worker_start", "Time from first seeing a pod to the start of its worker").with();
  const start = timed("pod_start", "Time from first seeing a pod until it is running").with();
  const startAlone = timed(
    "pod_start_sli",
    "Time from creation of a pod until it is running, excluding image pulls,",
    { buckets: startBuckets },
  ).with();
  const written = timed("pod_status_sync", "Time from a pod status change to the update of the API server", {
    buckets: statusBuckets,
  }).with();
  const relist = timed("pleg_relist", "Duration of relisting the pods of the runtime in PLEG").with();
  const interval = metrics
    .histogram({
      name: `${prefix}pleg_relist_interval_seconds`,
      help: "Interval between relists of the pods of the runtime in PLEG in seconds.",
      stability: "ALPHA",
    })
    .with();
  const groups = timed("cgroup_manager", "Duration of cgroup manager operations, by operation,", {
    labels: ["operation_type"],
  });
  const started = counter(
    "started_containers_total",
    "Cumulative number of container starts attempted, by type.",
    ["container_type"],
  );
  const failed = counter(
    "started_containers_errors_total",
    "Cumulative number of container starts that failed, by type and error code.",
    ["code", "container_type"],
  );
  const orphans = counter(
    "orphaned_runtime_pods_total",
    "Cumulative number of pods detected in the container runtime that are unknown to the pod workers.",
  ).with();
  const evictions = counter("evictions", "Cumulative number of pod evictions, by eviction signal.", [
    "eviction_signal",
  ]);
  const preemptions = counter(
    "preemptions",
    "Cumulative number of pod preemptions, by resource that triggered them.",
    ["preemption_signal"],
  );
  const opened = counter(
    "evented_pleg_connection_success_count",
    "Number of connections to the runtime event stream that were established.",
  ).with();
  const notOpened = counter(
    "evented_pleg_connection_error_count",
    "Number of connections to the runtime event stream that failed or broke.",
  ).with();
  const latency = metrics
    .histogram({
      name: `${prefix}evented_pleg_connection_latency_seconds`,
      help: "Latency of container events from the runtime in seconds.",
      stability: "ALPHA",
    })
    .with();
  const discarded = counter(
    "pleg_discard_events",
    "Number of PLEG events discarded because the pod could not be inspected; a later relist repeats them.",
  ).with();
  const again = counter(
    "restarted_pods_total",
    "Number of pods restarted with the same UID, such as static pods after an edit, by whether static.",
    ["static"],
  );
  again.with("");
  again.with("true");
  const fallbacks = counter(
    "lifecycle_handler_http_fallbacks_total",
    "Number of lifecycle hook requests that fell back from HTTPS to HTTP.",
  );
  if (fallsBack) fallbacks.with();
  const cleared = gauge(
    "orphan_pod_cleaned_volumes",
    "Number of directories of orphaned pods removed in the last cleanup.",
  );
  const notCleared = gauge(
    "orphan_pod_cleaned_volumes_errors",
    "Number of directories of orphaned pods that the last cleanup could not remove.",
  );
  const pods = new Map<string, Known>();
  const grouped = new Set<string>();

  const timing = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    const at = clock.monotonic();
    try {
      return await run();
    } finally {
      groups.with(operation).observe((clock.monotonic() - at) / 1000);
    }
  };
  return {
    added: (pod) => {
      perPod.observe((pod.spec.containers ?? []).length);
      pods.set(uidOf(pod), {
        seenAt: clock.monotonic(),
        hasActed: false,
        isRunning: isUp(pod),
        pullMilliseconds: 0,
      });
    },
    acting: (uid, at) => {
      const begun = clock.monotonic();
      const pod = pods.get(uid);
      if (pod && !pod.hasActed) waited.observe((begun - pod.seenAt) / 1000);
      const operation = at !== "syncing" ? "kill" : pod?.hasActed ? "sync" : "create";
      if (pod) pod.hasActed = true;
      return () => worked.with(operation).observe((clock.monotonic() - begun) / 1000);
    },
    pulled: (uid, milliseconds) => {
      const pod = pods.get(uid);
      if (pod) pod.pullMilliseconds += milliseconds;
    },
    started: (type, failure) => {
      started.with(type).add();
      if (failure !== undefined) failed.with(failure, type).add();
    },
    running: (pod) => {
      const known = pods.get(uidOf(pod));
      if (!known || known.isRunning) return;
      known.isRunning = true;
      start.observe((clock.monotonic() - known.seenAt) / 1000);
      const { creationTimestamp } = pod.metadata;
      const age = creationTimestamp
        ? clock.now() - millisOfTime(creationTimestamp)
        : clock.monotonic() - known.seenAt;
      startAlone.observe(Math.max(0, age - known.pullMilliseconds) / 1000);
    },
    orphan: () => orphans.add(),
    restarted: (pod) => again.with(isStatic(pod, dialect) ? "true" : "").add(),
    preempted: (lacking) => preemptions.with(lacking).add(),
    forgotten: (uid) => void pods.delete(uid),
    relisted: (milliseconds, since) => {
      relist.observe(milliseconds / 1000);
      interval.observe(since / 1000);
    },
    written: (milliseconds) => written.observe(milliseconds / 1000),
    evicted: (signal) => evictions.with(signal).add(),
    eventStreamOpened: (isOpen) => (isOpen ? opened : notOpened).add(),
    eventLatency: (milliseconds) => latency.observe(milliseconds / 1000),
    discarded: () => discarded.add(),
    fellBack: () => fallbacks.with().add(),
    cleared: (well, badly) => {
      cleared.set(well);
      notCleared.set(badly);
    },
    cgroups: (inner) => ({
      ...inner,
      ensure: (pod) => {
        const operation = grouped.has(uidOf(pod)) ? "update" : "create";
        grouped.add(uidOf(pod));
        return timing(operation, () => inner.ensure(pod));
      },
      release: (uid) => {
        grouped.delete(uid);
        return timing("destroy", () => inner.release(uid));
      },
    }),
  };
}

/** Reports whether the pod ran before the agent did; such a pod is not counted as a start. */
const isUp = ({ status }: Pod): boolean => status?.phase !== undefined && status.phase !== "Pending";
