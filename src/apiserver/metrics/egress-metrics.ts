// Metrics of connections through the proxies of --egress-selector-config-file.
import type { Metrics } from "#base";
import type { EgressObserver } from "../serving/egress.ts";

/** The only protocol supported for proxies. */
const protocol = "http_connect";

export function egressMetrics(metrics: Metrics): EgressObserver {
  const stability = "ALPHA";
  const labels = ["protocol", "transport"];
  const starts = metrics.counter({
    name: "apiserver_egress_dialer_dial_start_total",
    help: "Number of connection attempts through an egress proxy, by protocol and transport.",
    labels,
    stability,
  });
  const duration = metrics.histogram({
    name: "apiserver_egress_dialer_dial_duration_seconds",
    help: "Time in seconds to establish a connection through an egress proxy, by protocol and transport.",
    labels,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    stability,
  });
  const failures = metrics.counter({
    name: "apiserver_egress_dialer_dial_failure_count",
    help: "Number of failed connection attempts through an egress proxy, by protocol, transport and stage (connect or proxy).",
    labels: [...labels, "stage"],
    stability,
  });
  return (transport) => ({
    started: () => starts.with(protocol, transport).add(),
    opened: (seconds) => duration.with(protocol, transport).observe(seconds),
    failed: (stage) => failures.with(protocol, transport, stage).add(),
  });
}
