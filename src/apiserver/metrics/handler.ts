// /metrics: everything counted, in the text exposition format.
import { ApiError, type Metrics } from "#base";
import type { PathHandler } from "../router.ts";

export function metricsPath(metrics: Metrics): PathHandler {
  return (call) => {
    if (call.target.path !== "/metrics") return undefined;
    if (call.method !== "GET" && call.method !== "HEAD") {
      throw new ApiError(405, "MethodNotAllowed", `the server does not allow this method on the requested resource (${call.method})`, {});
    }
    return { status: 200, headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" }, body: Buffer.from(metrics.expose()) };
  };
}
