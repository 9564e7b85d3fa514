// Counts probe results for `/metrics/probes`.
import type { Pod } from "#api";
import { type Metrics, createMetrics, processStart } from "#base";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { ProbeOutcome } from "../probes/probes.ts";

export interface ProbeMetrics {
  readonly metrics: Metrics;
  record(
    this: void,
    pod: Pod,
    container: string,
    kind: "startup" | "readiness" | "liveness",
    outcome: ProbeOutcome,
  ): void;
  /** Drops the series of a pod that has been removed from this node. */
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
  const duration = metrics.histogram({
    name: "prober_probe_duration_seconds",
    help: "Duration of successful probes, in seconds.",
    labels: ["container", "namespace", "pod", "probe_type"],
    stability: "ALPHA",
  });
  processStart(metrics, "ALPHA");
  /** The label values of the counts of each pod, by their text. */
  const ofPods = new Map<string, Map<string, readonly string[]>>();
  return {
    metrics,
    record: (pod, container, kind, { result, seconds }) => {
      const values = [container, namespaceOf(pod), nameOf(pod), uidOf(pod), types[kind], result];
      ofPods.getOrInsertComputed(uidOf(pod), () => new Map()).set(values.join(), values);
      total.with(...values).add();
      if (result === "successful")
        duration.with(container, namespaceOf(pod), nameOf(pod), types[kind]).observe(seconds);
    },
    forget: (podUid) => {
      for (const values of ofPods.get(podUid)?.values() ?? []) {
        total.remove(...values);
        const [container, namespace, pod, , type] = values;
        duration.remove(container!, namespace!, pod!, type!);
      }
      ofPods.delete(podUid);
    },
  };
}
