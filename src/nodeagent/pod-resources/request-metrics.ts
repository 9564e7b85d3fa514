// Counts requests to the pod resources API, in total and by method.
import type { Metrics } from "#base";
import type { Dialect } from "#dialect";
import type { AllowedMethods, OnRequest } from "./pod-resources.ts";

const methods = { list: "List", get: "Get", get_allocatable: "GetAllocatableResources" } as const;

/** Registers the metrics; disabled methods have none. */
export function requestMetrics(metrics: Metrics, dialect: Dialect, allows: AllowedMethods): OnRequest {
  const counter = (name: string, help: string) =>
    metrics.counter({
      name: `${dialect.data.agentMetricPrefix}pod_resources_endpoint_${name}`,
      help: `${help}, by API version.`,
      labels: ["server_api_version"],
      stability: "ALPHA",
    });
  const total = counter("requests_total", "Number of requests to the pod resources API");
  const counted = (["list", "get_allocatable", "get"] as const).filter(
    (method) => method === "list" || allows[method],
  );
  const byMethod = new Map(
    counted.map((method) => [
      method,
      {
        requests: counter(
          `requests_${method}`,
          `Number of ${methods[method]} requests to the pod resources API`,
        ),
        errors: counter(
          `errors_${method}`,
          `Number of failed ${methods[method]} requests to the pod resources API`,
        ),
      },
    ]),
  );
  return (version, method, isGood) => {
    total.with(version).add();
    const counters = method && byMethod.get(method);
    counters?.requests.with(version).add();
    if (!isGood) counters?.errors.with(version).add();
  };
}
