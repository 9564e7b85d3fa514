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
    help: "Dial starts, labeled by the protocol (http-connect or grpc) and transport (tcp or uds).",
    labels,
    stability,
  });
  const duration = metrics.histogram({
    name: "apiserver_egress_dialer_dial_duration_seconds",
    help: "Dial latency histogram in seconds, labeled by the protocol (http-connect or grpc), transport (tcp or uds)",
    labels,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    stability,
  });
  const failures = metrics.counter({
    name: "apiserver_egress_dialer_dial_failure_count",
    help: "Dial failure count, labeled by the protocol (http-connect or grpc), transport (tcp or uds), and stage (connect or proxy). The stage indicates at which stage the dial failed",
    labels: [...labels, "stage"],
    stability,
  });
  return (transport) => ({
    started: () => starts.with(protocol, transport).add(),
    opened: (seconds) => duration.with(protocol, transport).observe(seconds),
    failed: (stage) => failures.with(protocol, transport, stage).add(),
  });
}
