// Metrics of node health and evictions, under their upstream names.
import { type Metrics, exponentialBuckets } from "#base";
import type { ZoneHealth } from "./node-evictions.ts";

export interface NodeLifecycleMetrics {
  /** The pods of a node in the zone start to be evicted. */
  evicted(zone: string): void;
  nodeMonitored(seconds: number): void;
  allMonitored(seconds: number): void;
}

const prefix = "node_collector";
const stability = "ALPHA";

/** `zones` returns the state of all zones with nodes. */
export function nodeLifecycleMetrics(
  metrics: Metrics,
  zones: () => Iterable<ZoneHealth>,
): NodeLifecycleMetrics {
  const byZone = (name: string, help: string) =>
    metrics.gauge({ name: `${prefix}_${name}`, help, labels: ["zone"], stability });
  const duration = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name: `${prefix}_${name}`, help, buckets, stability }).with();
  const size = byZone("zone_size", "Number of nodes, by zone.");
  const health = byZone("zone_health", "Percentage of nodes that are ready, by zone.");
  const unhealthy = byZone("unhealthy_nodes_in_zone", "Number of nodes that are not ready, by zone.");
  const evictions = metrics.counter({
    name: `${prefix}_evictions_total`,
    help: "Number of nodes whose pods started to be evicted, by zone.",
    labels: ["zone"],
    stability: "STABLE",
  });
  const known = new Set<string>();
  metrics.beforeScrape(() => {
    for (const zone of known) show({ zone, ready: 0, notReady: 0 });
    for (const each of zones()) {
      known.add(each.zone);
      evictions.with(each.zone);
      show(each);
    }
  });
  const one = duration(
    "update_node_health_duration_seconds",
    "Time in seconds that checking the health of one node takes.",
    exponentialBuckets(0.001, 4, 8),
  );
  const all = duration(
    "update_all_nodes_health_duration_seconds",
    "Time in seconds that checking the health of all nodes takes.",
    exponentialBuckets(0.01, 4, 8),
  );
  return {
    evicted: (zone) => evictions.with(zone).add(),
    nodeMonitored: (seconds) => one.observe(seconds),
    allMonitored: (seconds) => all.observe(seconds),
  };

  function show({ zone, ready, notReady }: ZoneHealth): void {
    const total = ready + notReady;
    size.with(zone).set(total);
    health.with(zone).set(total === 0 ? 100 : (100 * ready) / total);
    unhealthy.with(zone).set(notReady);
  }
}
