// Told what becomes of aggregated APIs, for whoever counts.
import type { ApiCall } from "#endpoints";

export interface AggregationObserver {
  /** Another server could not be asked. */
  failed?(error: unknown): void;
  /** A request was answered with 503, because nobody can be asked. */
  turnedAway?(call: ApiCall): void;
  /** An API service that could be reached no longer can be. */
  lost?(service: string, reason: string): void;
  /** The documents of the API changed by what an API service says. */
  redescribed?(service: string, reason: "add" | "update", seconds: number): void;
}
