// One line per request for those who asked for it (-v=3 and more), with the fields of kube-apiserver's log.
import { type Log, durationOfMillis } from "#base";
import type { ApiCall } from "#endpoints";
import { type Reply, header } from "#http";
import type { Filter } from "./filter.ts";

const level = 3;

export function requestLog(log: Log): Filter {
  return {
    name: "request log",
    run: (call, next) => (log.enabled(level) ? logged(log, call, next) : next()),
  };
}

async function logged(log: Log, call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
  const began = performance.now();
  const reply = await next();
  const { method, path, search, headers, peer } = call.call;
  log.verbose(level, "HTTP", {
    verb: method,
    URI: search === "" ? path : `${path}?${search}`,
    latency: durationOfMillis(performance.now() - began),
    userAgent: header(headers, "user-agent") ?? "",
    "audit-ID": call.auditId,
    srcIP: peer.address,
    resp: reply.status,
  });
  return reply;
}
