// Receives events of aggregated APIs, for metrics.
import type { ApiCall } from "#endpoints";

export interface AggregationObserver {
  /** A request to another server failed. */
  failed?(error: unknown): void;
  /** A request was rejected with 503 because its server is unavailable. */
  rejected?(call: ApiCall): void;
  /** An available API service became unavailable. */
  lost?(service: string, reason: string): void;
  /** The published API documents changed because an API service's description changed. */
  documentsChanged?(service: string, reason: "add" | "update", seconds: number): void;
}
