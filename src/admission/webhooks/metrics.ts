// Metrics of admission webhooks, under the names of the reference.

import type { Metrics } from "#base";
import type { Operation } from "../attributes.ts";

export type WebhookKind = "admit" | "validating";
export type RejectionCause = "calling_webhook_error" | "apiserver_internal_error" | "no_error";

export interface WebhookCall {
  readonly webhook: string;
  readonly kind: WebhookKind;
  readonly operation: Operation;
}

export interface WebhookMetrics {
  called(call: WebhookCall, seconds: number, code: number, rejected: boolean): void;
  rejected(call: WebhookCall, cause: RejectionCause, code: number): void;
  failedOpen(call: WebhookCall): void;
  conditionFailed(webhook: string, kind: WebhookKind): void;
}

/** Higher codes are truncated, to bound the number of series. */
const maxCode = 600;

export function webhookMetrics(metrics: Metrics): WebhookMetrics {
  const duration = metrics.histogram({
    name: "apiserver_admission_webhook_admission_duration_seconds",
    help: "Latency of admission webhooks in seconds, by webhook, operation and type (validating or admit).",
    labels: ["name", "type", "operation", "rejected"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    stability: "STABLE",
  });
  const requests = metrics.counter({
    name: "apiserver_admission_webhook_request_total",
    help: "Number of calls of admission webhooks, by webhook, type, operation, status code (at most 600) and whether the request was rejected.",
    labels: ["name", "type", "operation", "code", "rejected"],
    stability: "ALPHA",
  });
  const rejections = metrics.counter({
    name: "apiserver_admission_webhook_rejection_count",
    help: "Number of requests rejected by admission webhooks, by webhook, type, operation, kind of error (no_error if the webhook denied the request) and status code (at most 600).",
    labels: ["name", "type", "operation", "error_type", "rejection_code"],
    stability: "ALPHA",
  });
  const failOpen = metrics.counter({
    name: "apiserver_admission_webhook_fail_open_count",
    help: "Number of failed webhook calls that were ignored because of the failure policy, by webhook and type.",
    labels: ["name", "type"],
    stability: "ALPHA",
  });
  const conditionErrors = metrics.counter({
    name: "apiserver_admission_admission_match_condition_evaluation_errors_total",
    help: "Number of match conditions that could not be evaluated, by the object that contains them and type.",
    labels: ["name", "type"],
    stability: "ALPHA",
  });
  const shown = (code: number): string => String(Math.min(code, maxCode));
  return {
    called: ({ webhook, kind, operation }, seconds, code, rejected) => {
      duration.with(webhook, kind, operation, String(rejected)).observe(seconds);
      requests.with(webhook, kind, operation, shown(code), String(rejected)).add();
    },
    rejected: ({ webhook, kind, operation }, cause, code) =>
      rejections.with(webhook, kind, operation, cause, shown(code)).add(),
    failedOpen: ({ webhook, kind }) => failOpen.with(webhook, kind).add(),
    conditionFailed: (webhook, kind) =>
      conditionErrors.with(webhook, kind === "admit" ? "admit" : "validate").add(),
  };
}
