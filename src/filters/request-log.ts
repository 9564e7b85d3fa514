// Logs one line per request at -v=3 and above, with the fields of kube-apiserver's log.
import { type Log, durationOfMillis, hostAndPort } from "#base";
import type { ApiCall } from "#endpoints";
import { type Reply, header } from "#http";
import { uriOf } from "./authorize.ts";
import type { Filter } from "./filter.ts";
import { untilEnd } from "./until-end.ts";

const level = 3;
/** Maximum length of a logged error response. */
const maxLoggedBytes = 4096;

export function requestLog(log: Log): Filter {
  return {
    name: "request log",
    run: (call, next) => (log.enabled(level) ? logged(log, call, next) : next()),
  };
}

/** A stream is logged when it ends. */
async function logged(log: Log, call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
  const began = performance.now();
  const logFields: Record<string, unknown> = {};
  call.logFields = logFields;
  const reply = await next();
  if (reply.status === 200 && call.target.verb === "watch" && call.target.isResource)
    logWatchStart(log, call);
  return untilEnd(reply, () => {
    const { addedInfo, ...seats } = logFields;
    const info = [addedInfo, failureOf(reply)].filter((text) => text !== undefined).join("\n");
    log.verbose(level, "HTTP", {
      verb: verbOf(call),
      URI: uriOf(call),
      latency: durationOfMillis(performance.now() - began),
      userAgent: header(call.call.headers, "user-agent") ?? "",
      "audit-ID": call.auditId,
      srcIP: addressOf(call),
      ...seats,
      ...(reply.body && "takeOver" in reply.body ? { hijacked: true } : { resp: reply.status }),
      ...(info !== "" && { addedInfo: info }),
    });
  });
}

function logWatchStart(log: Log, { target, query }: ApiCall): void {
  log.verbose(level, "Starting watch", {
    path: target.path,
    resourceVersion: query.get("resourceVersion") ?? "",
    labels: query.get("labelSelector") ?? "",
    fields: query.get("fieldSelector") ?? "",
    timeout: durationOfMillis((Number(query.get("timeoutSeconds") ?? 0) || 0) * 1000),
  });
}

/** The method as in metrics: lists and watches are distinguished from GET, and applies from PATCH. */
function verbOf({ method, target, call }: ApiCall): string {
  if (!target.isResource) return method;
  if (target.verb === "watch") return "WATCH";
  if (method === "PATCH" && header(call.headers, "content-type")?.startsWith("application/apply-patch"))
    return "APPLY";
  return (method === "GET" || method === "HEAD") && !target.named ? "LIST" : method;
}

function addressOf({ call: { peer } }: ApiCall): string {
  if (peer.port === undefined) return peer.address;
  return hostAndPort(peer.address, peer.port);
}

/** Returns the response body of a server error. */
function failureOf({ status, body }: Reply): string | undefined {
  if (status < 500 || !(body instanceof Uint8Array)) return undefined;
  return `logging error output: ${JSON.stringify(Buffer.from(body.subarray(0, maxLoggedBytes)).toString("utf8"))}`;
}
