// Metrics of requests for pod logs, and of node agents whose certificate was not accepted.
import type { Counter, Metrics } from "#base";
import type { PodLogObserver } from "#virtual";

export function podLogMetrics(metrics: Metrics): PodLogObserver {
  const counter = (name: string, help: string, labels: readonly string[], deprecatedSince?: string) =>
    metrics.counter({
      name: `kube_apiserver_pod_logs_${name}`,
      help,
      labels,
      stability: "ALPHA",
      ...(deprecatedSince !== undefined && { deprecatedSince }),
    });
  // Release 1.27 renamed both metrics; the old names are exported as deprecated.
  const withDeprecatedName = (name: string, help: string, ...labels: string[]) => {
    const families = [counter(name, help, labels), counter(`pods_logs_${name}`, help, labels, "1.27.0")];
    return (...values: string[]): Counter[] => families.map((family) => family.with(...values));
  };
  const usages = withDeprecatedName(
    "insecure_backend_total",
    "Number of pod log requests, by usage: whether verification of the node's certificate was skipped.",
    "usage",
  );
  const failures = withDeprecatedName(
    "backend_tls_failure_total",
    "Number of pod log requests that failed because the node's certificate could not be verified.",
  )();
  return {
    requested: (unchecked) => {
      for (const each of usages(unchecked ? "skip_tls_allowed" : "enforce_tls")) each.add();
    },
    untrusted: () => {
      for (const each of failures) each.add();
    },
  };
}
