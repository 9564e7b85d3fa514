// /metrics and similar paths: all metrics in the text exposition format.
import type { Metrics } from "#base";
import type { PathHandler } from "#endpoints";
import { metricsReset } from "#http";

/** Serves the metrics at a path. If `reset` is given, a DELETE resets them. */
export function metricsPath(
  path: string,
  { expose }: Pick<Metrics, "expose">,
  reset?: () => void,
): PathHandler {
  const answer = (body: string, version = "") => ({
    status: 200,
    headers: { "content-type": `text/plain; ${version}charset=utf-8` },
    body: Buffer.from(body),
  });
  return (call) => {
    if (call.target.path !== path) return undefined;
    if (!reset || call.method !== "DELETE") return answer(expose(), "version=0.0.4; ");
    reset();
    return answer(metricsReset);
  };
}
