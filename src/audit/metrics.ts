// Metrics of the audit system.
import type { Counter, Metrics } from "#base";
import { type AuditLevel, levels } from "./event.ts";

export interface AuditMetrics {
  readonly events: Counter;
  readonly rejected: Counter;
  readonly level: Readonly<Record<AuditLevel, Counter>>;
  /** Counts events that a backend lost. */
  lost(backend: string, count: number): void;
}

export function auditMetrics(metrics: Metrics): AuditMetrics {
  const stability = "ALPHA";
  const errors = metrics.counter({
    name: "apiserver_audit_error_total",
    help: "Number of audit events that could not be written, by backend.",
    labels: ["plugin"],
    stability,
  });
  const perLevel = metrics.counter({
    name: "apiserver_audit_level_total",
    help: "Number of requests, by audit level.",
    labels: ["level"],
    stability,
  });
  return {
    events: metrics
      .counter({ name: "apiserver_audit_event_total", help: "Number of audit events generated.", stability })
      .with(),
    rejected: metrics
      .counter({
        name: "apiserver_audit_requests_rejected_total",
        help: "Number of requests rejected because of an error in the audit backend.",
        stability,
      })
      .with(),
    level: Object.fromEntries(levels.map((level) => [level, perLevel.with(level)])) as Record<
      AuditLevel,
      Counter
    >,
    lost: (backend, count) => errors.with(backend).add(count),
  };
}
