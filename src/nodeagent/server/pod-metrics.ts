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
      help: `${help}, in seconds.`,
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
      help: "Containers of each pod that came.",
      buckets: [1, 2, 4, 8, 16],
      stability: "ALPHA",
    })
    .with();
  const worked = timed("pod_worker", "How long a worker took for one action on its pod", {
    labels: ["operation_type"],
  });
  const waited = timed("pod_worker_start", "From the time a pod was seen until its worker began").with();
  const start = timed("pod_start", "From the time a pod was seen until it ran").with();
  const startAlone = timed(
    "pod_start_sli",
    "From the time a pod was made until it ran, without the time for its images",
    { buckets: startBuckets },
  ).with();
  const written = timed("pod_status_sync", "From a change of a pod's status until the API server had it", {
    buckets: statusBuckets,
  }).with();
  const relist = timed("pleg_relist", "How long a look at all pods of the runtime took").with();
  const interval = metrics
    .histogram({
      name: `${prefix}pleg_relist_interval_seconds`,
      help: "Time between two looks at all pods of the runtime, in seconds.",
      stability: "ALPHA",
    })
    .with();
  const groups = timed(
    "cgroup_manager",
    "How long control groups of pods took to be made, changed and removed",
    { labels: ["operation_type"] },
  );
  const started = counter("started_containers_total", "Containers that were to be started.", [
    "container_type",
  ]);
  const failed = counter(
    "started_containers_errors_total",
    "Containers that could not be started, by the reason.",
    ["code", "container_type"],
  );
  const orphans = counter(
    "orphaned_runtime_pods_total",
    "Pods found running that nobody had asked for.",
  ).with();
  const evictions = counter("evictions", "Pods ended for the node's sake, by what they had too much of.", [
    "eviction_signal",
  ]);
  const preemptions = counter(
    "preemptions",
    "Pods ended to make room for one of the system, by what was lacking.",
    ["preemption_signal"],
  );
  const opened = counter(
    "evented_pleg_connection_success_count",
    "Streams of the runtime's events that were opened.",
  ).with();
  const notOpened = counter(
    "evented_pleg_connection_error_count",
    "Streams of the runtime's events that could not be opened, or broke.",
  ).with();
  const latency = metrics
    .histogram({
      name: `${prefix}evented_pleg_connection_latency_seconds`,
      help: "From an event in the runtime until it came here, in seconds.",
      stability: "ALPHA",
    })
    .with();
  const discarded = counter(
    "pleg_discard_events",
    "Changes in the runtime of pods that could not be looked at then; a later look finds them.",
  ).with();
  const again = counter(
    "restarted_pods_total",
    "Pods that began anew under the same uid once their end was over, as edited static pods do.",
    ["static"],
  );
  again.with("");
  again.with("true");
  const fallbacks = counter(
    "lifecycle_handler_http_fallbacks_total",
    "Hooks that were to be asked over TLS and were asked without.",
  );
  if (fallsBack) fallbacks.with();
  const cleared = gauge(
    "orphan_pod_cleaned_volumes",
    "Folders of gone pods that the last round cleared away.",
  );
  const notCleared = gauge(
    "orphan_pod_cleaned_volumes_errors",
    "Folders of gone pods that the last round could not clear away.",
  );
  const pods = new Map<string, Known>();
  const grouped = new Set<string>();

  const timing = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    const at = clock.now();
    try {
      return await run();
    } finally {
      groups.with(operation).observe((clock.now() - at) / 1000);
    }
  };
  return {
    added: (pod) => {
      perPod.observe((pod.spec.containers ?? []).length);
      pods.set(uidOf(pod), {
        seenAt: clock.now(),
        hasActed: false,
        isRunning: isUp(pod),
        pullMilliseconds: 0,
      });
    },
    acting: (uid, at) => {
      const begun = clock.now();
      const pod = pods.get(uid);
      if (pod && !pod.hasActed) waited.observe((begun - pod.seenAt) / 1000);
      const operation = at !== "syncing" ? "kill" : pod?.hasActed ? "sync" : "create";
      if (pod) pod.hasActed = true;
      return () => worked.with(operation).observe((clock.now() - begun) / 1000);
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
      start.observe((clock.now() - known.seenAt) / 1000);
      const madeAt = pod.metadata.creationTimestamp
        ? millisOfTime(pod.metadata.creationTimestamp)
        : known.seenAt;
      startAlone.observe(Math.max(0, clock.now() - madeAt - known.pullMilliseconds) / 1000);
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
