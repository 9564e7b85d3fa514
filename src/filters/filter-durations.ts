// Metrics of the time that each filter holds a request before passing it on.
import type { Metrics } from "#base";
import type { Filter } from "./filter.ts";

/** Names of filters that kube-apiserver has as well. */
const names: Readonly<Record<string, string>> = {
  "priority and fairness": "priorityandfairness",
  "requests in flight": "maxinflight",
};

/**
 * Wraps a filter to measure the time from its call to its call of the next one. Requests that it answers
 * itself are not counted.
 */
export function filterDurations(metrics: Metrics): (filter: Filter) => Filter {
  const duration = metrics.histogram({
    name: "apiserver_request_filter_duration_seconds",
    help:
      "Time in seconds that a request spends in a request filter before it is passed on; " +
      "one of eight requests is sampled.",
    stability: "ALPHA",
    labels: ["filter"],
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5],
  });
  return (filter) => {
    const series = duration.with(names[filter.name] ?? filter.name);
    return {
      name: filter.name,
      run: (call, next) => {
        const began = performance.now();
        return filter.run(call, () => {
          series.observe((performance.now() - began) / 1000);
          return next();
        });
      },
    };
  };
}
