// How long each filter keeps a request before it passes it on.
import type { Metrics } from "#base";
import type { Filter } from "./filter.ts";

/** The names that the reference gives to filters that both have. */
const names: Readonly<Record<string, string>> = {
  "priority and fairness": "priorityandfairness",
  "requests in flight": "maxinflight",
};

/** The filter, measured from its call to its call of the next one. What it answers itself does not count. */
export function filterDurations(metrics: Metrics): (filter: Filter) => Filter {
  const duration = metrics.histogram({
    name: "apiserver_request_filter_duration_seconds",
    help:
      "Seconds that a filter of the request pipeline took before it passed a request on; " +
      "one of eight requests is measured.",
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
