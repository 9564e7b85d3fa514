// Scheduler metrics, under the names of the original.
import { type Gauge, type Metrics, exponentialBuckets } from "#base";
import type { ClusterCache } from "./cluster-cache.ts";
import { type PluginMetrics, pluginMetrics } from "./plugin-metrics.ts";
import type { IncomingPod, QueuedPod, SchedulingQueue } from "./scheduling-queue.ts";

export interface SchedulerMetrics {
  /** Records that a pod was added to a queue. */
  incoming: IncomingPod;
  /** Records the duration of a scheduling decision, successful or not. */
  decided(milliseconds: number): void;
  /** Records an attempt that did not schedule the pod. */
  failed(profile: string, result: "unschedulable" | "error", milliseconds: number): void;
  /** Records that the pod was bound, `milliseconds` after its attempt started. */
  bound(profile: string, entry: QueuedPod, milliseconds: number): void;
  preemptionTried(): void;
  preempted(victims: number): void;
  /** The number of bindings in progress. */
  readonly bindings: Gauge;
  readonly plugins: PluginMetrics;
}

interface Observed {
  readonly queue: SchedulingQueue;
  readonly cache: ClusterCache;
  /** Returns the number of gated pods. */
  readonly gated: () => number;
  readonly profileOf: (entry: QueuedPod) => string;
  readonly now: () => number;
}

const attemptSeconds = exponentialBuckets(0.001, 2, 15);
/** Attempt counts above this share one label value. */
const maxAttemptsLabel = 15;

export function schedulerMetrics(metrics: Metrics, observed: () => Observed): SchedulerMetrics {
  const stability = "STABLE";
  const byResult = { labels: ["profile", "result"], stability } as const;
  const attempts = metrics.counter({
    name: "scheduler_schedule_attempts_total",
    help: "Number of attempts to schedule pods, by result.",
    ...byResult,
  });
  const durations = metrics.histogram({
    name: "scheduler_scheduling_attempt_duration_seconds",
    help: "Latency of scheduling attempts (scheduling algorithm and binding) in seconds, by result.",
    ...byResult,
    buckets: attemptSeconds,
  });
  const decisions = metrics
    .histogram({
      name: "scheduler_scheduling_algorithm_duration_seconds",
      help: "Latency of the scheduling algorithm in seconds.",
      stability: "ALPHA",
      buckets: attemptSeconds,
    })
    .with();
  const tries = metrics
    .histogram({
      name: "scheduler_pod_scheduling_attempts",
      help: "Number of attempts needed to schedule a pod.",
      stability,
      buckets: exponentialBuckets(1, 2, 5),
    })
    .with();
  const waits = metrics.histogram({
    name: "scheduler_pod_scheduling_duration_seconds",
    help: "Latency in seconds of scheduling a pod from its first appearance in the queue, over all attempts.",
    labels: ["attempts"],
    stability,
    buckets: exponentialBuckets(0.01, 2, 20),
  });
  const arrivals = metrics.counter({
    name: "scheduler_queue_incoming_pods_total",
    help: "Number of pods added to scheduling queues, by event and queue.",
    labels: ["event", "queue"],
    stability,
  });
  const preemptions = metrics
    .counter({
      name: "scheduler_preemption_attempts_total",
      help: "Total number of preemption attempts.",
      stability,
    })
    .with();
  const victims = metrics
    .histogram({
      name: "scheduler_preemption_victims",
      help: "Number of pods evicted by a preemption.",
      stability,
      buckets: exponentialBuckets(1, 2, 7),
    })
    .with();
  registerSizes(metrics, observed);
  const observeAttempt = (profile: string, result: string, milliseconds: number): void => {
    attempts.with(profile, result).add();
    durations.with(profile, result).observe(milliseconds / 1000);
  };
  return {
    incoming: (queue, event) => arrivals.with(event, queue).add(),
    decided: (milliseconds) => decisions.observe(milliseconds / 1000),
    failed: observeAttempt,
    bound: (profile, entry, milliseconds) => {
      observeAttempt(profile, "scheduled", milliseconds);
      tries.observe(entry.attempts);
      const label = entry.attempts > maxAttemptsLabel ? `${maxAttemptsLabel}+` : String(entry.attempts);
      waits.with(label).observe((observed().now() - entry.since) / 1000);
    },
    preemptionTried: () => preemptions.add(),
    preempted: (count) => victims.observe(count),
    bindings: metrics
      .gauge({
        name: "scheduler_goroutines",
        help: "Number of concurrent operations in progress, such as bindings.",
        labels: ["operation"],
        stability: "ALPHA",
      })
      .with("binding"),
    plugins: pluginMetrics(metrics),
  };
}

/** Registers gauges of queue and cache sizes, computed on each scrape. */
function registerSizes(metrics: Metrics, observed: () => Observed): void {
  const pending = metrics.gauge({
    name: "scheduler_pending_pods",
    help: "Number of pending pods, by queue.",
    labels: ["queue"],
    stability: "STABLE",
  });
  const known = metrics.gauge({
    name: "scheduler_scheduler_cache_size",
    help: "Number of nodes, pods and assumed (bound) pods in the scheduler cache.",
    labels: ["type"],
    stability: "ALPHA",
  });
  const rejections = metrics.gauge({
    name: "scheduler_unschedulable_pods",
    help: "Number of unschedulable pods, by plugin that rejected them and profile.",
    labels: ["plugin", "profile"],
    stability: "ALPHA",
  });
  metrics.beforeScrape(() => {
    const { queue, cache, gated, profileOf } = observed();
    const sizes = { ...queue.sizes, gated: gated() };
    for (const [name, size] of Object.entries(sizes)) pending.with(name).set(size);
    const { pods, assumed } = cache.sizes;
    known.with("nodes").set(cache.nodes.size);
    known.with("pods").set(pods);
    known.with("assumed_pods").set(assumed);
    rejections.clear();
    for (const entry of queue.unschedulable())
      for (const plugin of entry.rejectedBy) rejections.with(plugin, profileOf(entry)).add();
  });
}
