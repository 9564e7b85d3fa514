// Counts probe results for `/metrics/probes`.
import type { Pod } from "#api";
import { type Metrics, createMetrics, processStart } from "#base";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";

export interface ProbeMetrics {
  readonly metrics: Metrics;
  record(
    this: void,
    pod: Pod,
    container: string,
    kind: "startup" | "readiness" | "liveness",
    result: "successful" | "failed" | "unknown",
  ): void;
  /** Drops the counts of a pod that has been removed from this node. */
  forget(this: void, podUid: string): void;
}

const types = { startup: "Startup", readiness: "Readiness", liveness: "Liveness" } as const;

export function probeMetrics(): ProbeMetrics {
  const metrics = createMetrics();
  const total = metrics.counter({
    name: "prober_probe_total",
    help: "Cumulative number of startup, readiness and liveness probes of a container, by result.",
    labels: ["container", "namespace", "pod", "pod_uid", "probe_type", "result"],
    stability: "ALPHA",
  });
  processStart(metrics, "ALPHA");
  /** The label values of the series of each pod, by their text. */
  const ofPods = new Map<string, Map<string, readonly string[]>>();
  return {
    metrics,
    record: (pod, container, kind, result) => {
      const values = [container, namespaceOf(pod), nameOf(pod), uidOf(pod), types[kind], result];
      ofPods.getOrInsertComputed(uidOf(pod), () => new Map()).set(values.join(), values);
      total.with(...values).add();
    },
    forget: (podUid) => {
      for (const values of ofPods.get(podUid)?.values() ?? []) total.remove(...values);
      ofPods.delete(podUid);
    },
  };
}
