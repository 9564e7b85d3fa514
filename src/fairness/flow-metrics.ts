// The metrics of flow control. Series are bound once per priority level and flow schema, so that a request
// only updates fields.
import type { Gauge, Histogram, Metrics } from "#base";
import type { DemandSummary } from "./seat-demand.ts";

const durations = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const utilizations = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const requestFractions = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const readWriteFractions = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const demandFractions = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];
const nanosecondsPerMillisecond = 1e6;

export type FlowMetrics = ReturnType<typeof flowMetrics>;
export type LevelMetrics = ReturnType<FlowMetrics["level"]>;
export type SchemaMetrics = ReturnType<FlowMetrics["schema"]>;

/** The ratio of a value to a limit, weighted by time. */
export class TimedRatio {
  readonly #histogram: Histogram;
  readonly #now: () => number;
  #value = 0;
  #limit = 1;
  #at: number;

  constructor(histogram: Histogram, now: () => number) {
    this.#histogram = histogram;
    this.#now = now;
    this.#at = now();
  }

  add(by: number): void {
    this.set(this.#value + by);
  }

  set(value: number): void {
    this.observe();
    this.#value = value;
  }

  setLimit(limit: number): void {
    this.observe();
    this.#limit = Math.max(limit, 1);
  }

  /** Accounts for the time since the last change. */
  observe(): void {
    const now = this.#now();
    const elapsed = now - this.#at;
    if (elapsed <= 0) return;
    this.#at = now;
    this.#histogram.observe(this.#value / this.#limit, elapsed * nanosecondsPerMillisecond);
  }
}

export function flowMetrics(metrics: Metrics, now: () => number) {
  const name = (suffix: string): string => `apiserver_flowcontrol_${suffix}`;
  const gauge = (suffix: string, help: string, ...labels: string[]) =>
    metrics.gauge({ name: name(suffix), help, labels, stability: "ALPHA" });
  const counter = (suffix: string, help: string, ...labels: string[]) =>
    metrics.counter({ name: name(suffix), help, labels, stability: "ALPHA" });
  const histogram = (suffix: string, help: string, buckets: readonly number[], ...labels: string[]) =>
    metrics.histogram({ name: name(suffix), help, labels, buckets, stability: "ALPHA" });
  const timed = (suffix: string, help: string, buckets: readonly number[], ...labels: string[]) =>
    metrics.histogram({ name: name(suffix), help, labels, buckets });
  const flow = ["flow_schema", "priority_level"];
  const level = "priority_level";

  const executing = gauge(
    "current_executing_requests",
    "Number of requests in the initial stage (for a watch) or any stage of execution.",
    ...flow,
  );
  const inQueue = gauge(
    "current_inqueue_requests",
    "Number of requests currently waiting in queues.",
    ...flow,
  );
  const seatsInUse = gauge(
    "request_concurrency_in_use",
    "Number of seats occupied by requests that are being executed.",
    ...flow,
  );
  const dispatched = counter(
    "dispatched_requests_total",
    "Number of requests dispatched for execution.",
    ...flow,
  );
  const rejected = counter(
    "rejected_requests_total",
    "Number of rejected requests, by reason.",
    ...flow,
    "reason",
  );
  const notAccommodated = counter(
    "request_dispatch_no_accommodation_total",
    "Number of dispatch attempts that failed because too few seats were available.",
    ...flow,
  );
  const waited = histogram(
    "request_wait_duration_seconds",
    "Time in seconds that requests wait in queues.",
    durations,
    "execute",
    ...flow,
  );
  const took = histogram(
    "request_execution_seconds",
    "Duration of the initial stage (for a watch) or of the whole execution of requests, in seconds.",
    durations,
    ...flow,
    "type",
  );
  const queueLength = histogram(
    "request_queue_length_after_enqueue",
    "Length of the queue after a request was added to it.",
    [0, 10, 25, 50, 100, 250, 500, 1000],
    ...flow,
  );
  const watchCount = histogram(
    "watch_count_samples",
    "Number of watchers relevant to a write request.",
    [0, 1, 10, 100, 1000, 10_000],
    ...flow,
  );
  const estimatedSeats = histogram(
    "work_estimated_seats",
    "Estimated number of seats of a request, as the maximum over its stages.",
    [1, 2, 4, 10],
    ...flow,
  );

  const gauges = {
    currentLimit: gauge(
      "current_limit_seats",
      "Current number of seats allocated to the priority level.",
      level,
    ),
    currentR: gauge("current_r", "Virtual time R(t) at the last update of the priority level.", level),
    dispatchR: gauge("dispatch_r", "Virtual time R(t) at the last dispatch of the priority level.", level),
    latestS: gauge(
      "latest_s",
      "Virtual start time S of the most recently dispatched request of the priority level.",
      level,
    ),
    average: gauge(
      "demand_seats_average",
      "Average seat demand of the priority level in the last adjustment period.",
      level,
    ),
    highWatermark: gauge(
      "demand_seats_high_watermark",
      "High watermark of the seat demand of the priority level in the last adjustment period.",
      level,
    ),
    smoothed: gauge("demand_seats_smoothed", "Smoothed seat demand of the priority level.", level),
    deviation: gauge(
      "demand_seats_stdev",
      "Standard deviation of the seat demand of the priority level in the last adjustment period.",
      level,
    ),
    lower: gauge("lower_limit_seats", "Lower bound of the number of seats of the priority level.", level),
    nominal: gauge(
      "nominal_limit_seats",
      "Nominal number of seats configured for the priority level.",
      level,
    ),
    upper: gauge("upper_limit_seats", "Upper bound of the number of seats of the priority level.", level),
    target: gauge("target_seats", "Target number of seats of the priority level.", level),
    limit: gauge(
      "request_concurrency_limit",
      "Nominal number of seats configured for the priority level.",
      level,
    ),
  };
  const nextS = gauge(
    "next_s_bounds",
    "Minimum and maximum virtual start time S of the oldest request of each queue.",
    "bound",
    level,
  );
  const nextDiscountedS = gauge(
    "next_discounted_s_bounds",
    "Minimum and maximum of S of each queue's oldest request, less the estimated work in progress.",
    "bound",
    level,
  );
  const fairFraction = gauge(
    "seat_fair_frac",
    "Fraction of the target seats allocated to priority levels that are not limited by their bounds.",
  ).with();
  const demand = timed(
    "demand_seats",
    "Time-weighted histogram of seat demand divided by the nominal limit of the priority level.",
    demandFractions,
    level,
  );
  const requestUse = timed(
    "priority_level_request_utilization",
    "Time-weighted histogram of the number of requests divided by their limit, by phase.",
    requestFractions,
    "phase",
    level,
  );
  const seatUse = timed(
    "priority_level_seat_utilization",
    "Time-weighted histogram of occupied seats divided by the limit of the priority level.",
    utilizations,
    "phase",
    level,
  );
  const readWrite = timed(
    "read_vs_write_current_requests",
    "Time-weighted histogram of requests divided by their limit, by phase and request kind.",
    readWriteFractions,
    "phase",
    "request_kind",
  );

  const ratios = new Set<TimedRatio>();
  const ratio = (series: Histogram): TimedRatio => {
    const made = new TimedRatio(series, now);
    ratios.add(made);
    return made;
  };
  metrics.beforeScrape(() => {
    for (const each of ratios) each.observe();
  });

  return {
    fairFraction: (fraction: number) => fairFraction.set(fraction),
    readWrite: (kind: "mutating" | "readOnly") => ({
      executing: ratio(readWrite.with("executing", kind)),
      waiting: ratio(readWrite.with("waiting", kind)),
    }),
    schema: (schemaName: string, levelName: string) => ({
      executing: executing.with(schemaName, levelName),
      inQueue: inQueue.with(schemaName, levelName),
      seatsInUse: seatsInUse.with(schemaName, levelName),
      dispatched: dispatched.with(schemaName, levelName),
      rejected: (reason: string) => rejected.with(schemaName, levelName, reason).add(),
      notAccommodated: () => notAccommodated.with(schemaName, levelName).add(),
      waited: waited.with("true", schemaName, levelName),
      waitedRejected: (seconds: number) => waited.with("false", schemaName, levelName).observe(seconds),
      took: took.with(schemaName, levelName, "regular"),
      watchTook: (seconds: number) => took.with(schemaName, levelName, "watch").observe(seconds),
      queueLength: queueLength.with(schemaName, levelName),
      watchCount: watchCount.with(schemaName, levelName),
      estimatedSeats: estimatedSeats.with(schemaName, levelName),
    }),
    level: (levelName: string) => {
      const bound = Object.fromEntries(
        Object.entries(gauges).map(([key, family]) => [key, family.with(levelName)]),
      ) as Record<keyof typeof gauges, Gauge>;
      const owned = {
        demand: ratio(demand.with(levelName)),
        executing: ratio(requestUse.with("executing", levelName)),
        waiting: ratio(requestUse.with("waiting", levelName)),
        seats: ratio(seatUse.with("executing", levelName)),
      };
      const bounds = [nextS.with("min", levelName), nextS.with("max", levelName)] as const;
      const discounted = [
        nextDiscountedS.with("min", levelName),
        nextDiscountedS.with("max", levelName),
      ] as const;
      return {
        ...bound,
        ratios: owned,
        bounds,
        discounted,
        recordDemand: (summary: DemandSummary, smoothedDemand: number) => {
          bound.average.set(summary.average);
          bound.deviation.set(summary.deviation);
          bound.highWatermark.set(summary.highWatermark);
          bound.smoothed.set(smoothedDemand);
        },
        /** Removes the series of a deleted level. */
        remove: () => {
          for (const family of Object.values(gauges)) family.remove(levelName);
          for (const each of Object.values(owned)) ratios.delete(each);
        },
      };
    },
  };
}
