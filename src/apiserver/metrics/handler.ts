// /metrics and its like: everything counted, in the text exposition format.
import type { Metrics } from "#base";
import type { PathHandler } from "#endpoints";

export function metricsPath(path: string, metrics: Metrics): PathHandler {
  return (call) => {
    if (call.target.path !== path) return undefined;
    return {
      status: 200,
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      body: Buffer.from(metrics.expose()),
    };
  };
}
