// Metrics of aggregated APIs: their availability and changes of their documents.
import type { Metrics } from "#base";
import type { AggregationObserver } from "#extensions";
import { certificateMetrics } from "./extension-metrics.ts";

export interface AggregationMetrics extends Required<Omit<AggregationObserver, "rejected">> {
  /** Records the first build of the OpenAPI v2 document after the start. */
  described(seconds: number): void;
  /** Counts a change of the aggregated discovery document. */
  discovered(): void;
  /** Exports which API services are unavailable; local ones are always available. */
  show(versions: () => readonly { readonly name: string; readonly available: boolean }[]): void;
}

export function aggregationMetrics(metrics: Metrics): AggregationMetrics {
  const counter = (name: string, help: string, ...labels: string[]) =>
    metrics.counter({ name, help, stability: "ALPHA", labels });
  const gauge = (name: string, help: string, ...labels: string[]) =>
    metrics.gauge({ name, help, stability: "ALPHA", labels });
  const regenerations = counter(
    "aggregator_openapi_v2_regeneration_count",
    "Number of OpenAPI v2 document regenerations, by API service that caused them and reason.",
    "apiservice",
    "reason",
  );
  const duration = gauge(
    "aggregator_openapi_v2_regeneration_duration",
    "Duration of the last OpenAPI v2 document regeneration in seconds, by reason.",
    "reason",
  );
  const aggregations = counter(
    "aggregator_discovery_aggregation_count_total",
    "Number of times aggregated discovery documents were rebuilt.",
  ).with();
  const failures = counter(
    "aggregator_unavailable_apiservice_total",
    "Number of times an API service became unavailable, by API service and reason.",
    "name",
    "reason",
  );
  const unavailable = gauge(
    "aggregator_unavailable_apiservice",
    "Whether an API service is unavailable: 1 if it is, 0 if it is available.",
    "name",
  );
  const documentsChanged = (service: string, reason: string, seconds: number): void => {
    regenerations.with(service, reason).add();
    duration.with(reason).set(seconds);
  };
  return {
    failed: certificateMetrics(metrics, "kube_aggregator", "aggregated servers"),
    documentsChanged,
    described: (seconds) => documentsChanged("*", "startup", seconds),
    discovered: () => aggregations.add(),
    lost: (service, reason) => failures.with(service, reason).add(),
    show: (versions) =>
      metrics.beforeScrape(() => {
        unavailable.clear();
        for (const { name, available } of versions()) unavailable.with(name).set(available ? 0 : 1);
      }),
  };
}
