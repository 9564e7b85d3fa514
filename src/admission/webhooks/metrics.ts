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
    help: "Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    labels: ["name", "type", "operation", "rejected"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    stability: "STABLE",
  });
  const requests = metrics.counter({
    name: "apiserver_admission_webhook_request_total",
    help: "Admission webhook request total, identified by name and broken out for each admission type (validating or mutating) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["name", "type", "operation", "code", "rejected"],
    stability: "ALPHA",
  });
  const rejections = metrics.counter({
    name: "apiserver_admission_webhook_rejection_count",
    help: "Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: ["name", "type", "operation", "error_type", "rejection_code"],
    stability: "ALPHA",
  });
  const failOpen = metrics.counter({
    name: "apiserver_admission_webhook_fail_open_count",
    help: "Admission webhook fail open count, identified by name and broken out for each admission type (validating or mutating).",
    labels: ["name", "type"],
    stability: "ALPHA",
  });
  const conditionErrors = metrics.counter({
    name: "apiserver_admission_admission_match_condition_evaluation_errors_total",
    help: "Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each admission type (validating or mutating).",
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
