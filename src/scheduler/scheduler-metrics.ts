// Metrics of the scheduler, under the names that dashboards know.
import type { Metrics } from "#base";
import type { SchedulingQueue } from "./scheduling-queue.ts";

export interface SchedulerMetrics {
  attempt(result: "scheduled" | "unschedulable" | "error", milliseconds: number): void;
  preempted(victims: number): void;
}

export function schedulerMetrics(metrics: Metrics, queue: SchedulingQueue): SchedulerMetrics {
  const attempts = metrics.counter({
    name: "scheduler_schedule_attempts_total",
    help: "Attempts to schedule pods, by result.",
    labels: ["result"],
  });
  const durations = metrics.histogram({
    name: "scheduler_scheduling_attempt_duration_seconds",
    help: "How long attempts took without binding, by result.",
    labels: ["result"],
  });
  const pending = metrics.gauge({
    name: "scheduler_pending_pods",
    help: "Pods that wait, by queue.",
    labels: ["queue"],
  });
  const preemptions = metrics.counter({
    name: "scheduler_preemption_attempts_total",
    help: "Times that room was made for a pod.",
  });
  const victims = metrics.counter({
    name: "scheduler_preemption_victims_total",
    help: "Pods that made room.",
  });
  metrics.beforeScrape(() => {
    for (const [name, size] of Object.entries(queue.sizes)) pending.with(name).set(size);
  });
  return {
    attempt: (result, milliseconds) => {
      attempts.with(result).add();
      durations.with(result).observe(milliseconds / 1000);
    },
    preempted: (count) => {
      preemptions.with().add();
      victims.with().add(count);
    },
  };
}
