// Metrics of the events that the agent records.
import type { Metrics } from "#base";
import type { EventObserver } from "#client";
import type { Dialect } from "#dialect";

export function eventMetrics(metrics: Metrics, { data: { agentMetricPrefix } }: Dialect): EventObserver {
  const sent = metrics.counter({
    name: `${agentMetricPrefix}events_sent_total`,
    help: "Number of events sent to the API server, by verb.",
    labels: ["verb"],
  });
  const dropped = metrics.counter({
    name: `${agentMetricPrefix}events_dropped_total`,
    help: "Number of events that were dropped, by reason.",
    labels: ["reason"],
  });
  return {
    sent: (verb) => sent.with(verb).add(),
    dropped: (reason) => dropped.with(reason).add(),
  };
}
