// Request metrics. Series are bound once per kind of request, so that counting a request takes a few
// additions.
import type { Counter, Gauge, Histogram, Metrics } from "#base";
import type { ApiCall, WatchObserver, WatchedKind } from "#endpoints";
import { Span } from "#tracing";
import type { RequestObserver } from "./shutdown.ts";
import { isMutating } from "./long-running.ts";

const seconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const labels = ["verb", "group", "version", "resource", "subresource", "scope", "component"] as const;

/** The series of one kind of request. */
interface Bound {
  readonly codes: Map<number, Counter>;
  readonly duration: Histogram;
  /** Durations without the time of webhooks, for which the server is not responsible. */
  readonly withoutWebhooks: readonly Histogram[];
  /** Only for reads. */
  readonly sizes: Histogram | undefined;
  /** Only for writes. */
  readonly bodies: Histogram | undefined;
  longRunning: Gauge | undefined;
  readonly values: readonly string[];
}

export interface RequestMetrics extends RequestObserver {
  /**
   * Counts a request terminated by the server to protect itself: too many requests, a missed deadline, or no
   * server available to handle it.
   */
  terminated(call: ApiCall, code: 429 | 503 | 504, by?: string): void;
  /** Counts a handler that ended after the deadline of its request. */
  endedLate(outcome: "ok" | "panic"): void;
  /** Counts an authenticated request. */
  authenticated(username: string): void;
  /** Counts a request that enters or leaves a queue. */
  queued(call: ApiCall, change: 1 | -1): void;
  /** Returns the observer that counts the events of a watch. */
  watchEvents(of: WatchedKind): WatchObserver;
}

/**
 * `served` reports whether the path and its subresource are served: a series for every name a client requests
 * would fill the memory.
 */
export function requestMetrics(
  metrics: Metrics,
  component: string,
  served: (call: ApiCall) => boolean,
): RequestMetrics {
  const total = metrics.counter({
    name: "apiserver_request_total",
    help: "Number of API server requests, by verb, dry run, resource, scope and status code.",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...labels.slice(1), "code"],
  });
  const duration = metrics.histogram({
    name: "apiserver_request_duration_seconds",
    help: "Latency of requests in seconds until the start of the response.",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...labels.slice(1)],
    buckets: seconds,
  });
  const ownDuration = (name: string, deprecatedSince?: string) =>
    metrics.histogram({
      name,
      help: "Latency of requests in seconds until the start of the response, excluding webhooks.",
      stability: "ALPHA",
      labels,
      buckets: seconds.slice(2),
      ...(deprecatedSince !== undefined && { deprecatedSince }),
    });
  const sli = ownDuration("apiserver_request_sli_duration_seconds");
  const slo = ownDuration("apiserver_request_slo_duration_seconds", "1.27.0");
  const validation = metrics.histogram({
    name: "field_validation_request_duration_seconds",
    help: "Latency of write requests in seconds, by field validation directive.",
    stability: "ALPHA",
    labels: ["field_validation"],
    buckets: seconds.slice(2),
  });
  const deprecated = metrics.gauge({
    name: "apiserver_requested_deprecated_apis",
    help: "Deprecated APIs that have been requested, by group, version, resource and removal release.",
    stability: "STABLE",
    labels: ["group", "version", "resource", "subresource", "removed_release"],
  });
  const own = metrics.counter({
    name: "apiserver_selfrequest_total",
    help: "Number of requests that the API server sent to itself.",
    stability: "ALPHA",
    labels: ["verb", "resource", "subresource"],
  });
  const inQueue = metrics.gauge({
    name: "apiserver_current_inqueue_requests",
    help: "Number of requests currently queued, by request kind (mutating or read-only).",
    stability: "ALPHA",
    labels: ["request_kind"],
  });
  const longRunning = metrics.gauge({
    name: "apiserver_longrunning_requests",
    help: "Number of active long-running requests, by verb, resource, scope and component.",
    stability: "STABLE",
    labels,
  });
  const current = metrics.gauge({
    name: "apiserver_current_inflight_requests",
    help: "Number of requests currently being handled, by request kind (mutating or read-only).",
    stability: "STABLE",
    labels: ["request_kind"],
  });
  const terminated = metrics.counter({
    name: "apiserver_request_terminations_total",
    help: "Number of requests terminated by the API server to protect itself.",
    stability: "ALPHA",
    labels: [...labels, "code"],
  });
  const aborted = metrics.counter({
    name: "apiserver_request_aborts_total",
    help: "Number of requests whose response the API server aborted.",
    stability: "ALPHA",
    labels: labels.slice(0, -1),
  });
  const late = metrics.counter({
    name: "apiserver_request_post_timeout_total",
    help: "Number of request handlers that finished after the request had timed out, by source and status.",
    stability: "ALPHA",
    labels: ["source", "status"],
  });
  const bodySizes = metrics.histogram({
    name: "apiserver_request_body_sizes",
    help: "Size of request bodies in bytes, by resource and verb.",
    stability: "ALPHA",
    labels: ["resource", "verb"],
    buckets: Array.from({ length: 31 }, (_, at) => 50_000 + at * 100_000),
  });
  const events = metrics.counter({
    name: "apiserver_watch_events_total",
    help: "Number of events sent to watchers, by kind.",
    stability: "ALPHA",
    labels: ["group", "version", "kind"],
  });
  const eventSizes = metrics.histogram({
    name: "apiserver_watch_events_sizes",
    help: "Size of events sent to watchers in bytes, by kind.",
    stability: "ALPHA",
    labels: ["group", "version", "kind"],
    buckets: [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
  });
  const slowWatchers = metrics.counter({
    name: "apiserver_terminated_watchers_total",
    help: "Number of watches terminated because the watcher was unresponsive, by resource.",
    stability: "ALPHA",
    labels: ["resource"],
  });
  const sizes = metrics.histogram({
    name: "apiserver_response_sizes",
    help: "Size of responses to read requests in bytes.",
    stability: "STABLE",
    labels,
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  });
  const users = metrics.counter({
    name: "authenticated_user_requests",
    help: "Number of authenticated requests, by kind of user name.",
    stability: "ALPHA",
    labels: ["username"],
  });
  const waiting = { read: inQueue.with("readOnly"), write: inQueue.with("mutating") };
  const reading = current.with("readOnly");
  const writing = current.with("mutating");

  // Indexed by resource first: a resource has few kinds of request, and comparing short names costs less than
  // building one long key.
  const known = new Map<string, { readonly kind: RequestKind; readonly bound: Bound }[]>();
  let size = 0;
  const bind = (call: ApiCall, kind: RequestKind): Bound => {
    const [verb, dryRun, ...rest] = valuesOf(call, served(call), component);
    const bodyVerb = bodyVerbs.get(call.target.verb);
    const bound: Bound = {
      codes: new Map(),
      duration: duration.with(verb!, dryRun!, ...rest),
      sizes:
        call.target.isResource && (verb === "GET" || verb === "LIST") ? sizes.with(verb, ...rest) : undefined,
      bodies:
        bodyVerb !== undefined && call.target.isResource && rest[2] !== ""
          ? bodySizes.with(groupResource(rest[2]!, rest[0]!), bodyVerb)
          : undefined,
      withoutWebhooks: [sli.with(verb!, ...rest), slo.with(verb!, ...rest)],
      longRunning: undefined,
      values: [verb!, dryRun!, ...rest],
    };
    if (size >= maxKinds) {
      known.clear();
      size = 0;
    }
    const sameResource = known.getOrInsertComputed(kind.resource, () => []);
    if (sameResource.length >= maxKindsPerResource) size -= sameResource.splice(0).length;
    sameResource.push({ kind, bound });
    size++;
    return bound;
  };
  const boundFor = (call: ApiCall): Bound => {
    const kind = kindOf(call);
    const found = known.get(kind.resource);
    if (found) for (const each of found) if (isSameKind(each.kind, kind)) return each.bound;
    return bind(call, kind);
  };
  return {
    began: (call) => {
      (isMutating(call.target) ? writing : reading).value++;
    },
    answered: (call, status, milliseconds, long, bytes) => {
      const bound = boundFor(call);
      let counter = bound.codes.get(status);
      if (!counter) bound.codes.set(status, (counter = total.with(...bound.values, String(status))));
      counter.value++;
      if (long) return;
      (isMutating(call.target) ? writing : reading).value--;
      bound.duration.observe(milliseconds / 1000);
      const without = (milliseconds - webhookMilliseconds(call.operation)) / 1000;
      for (const each of bound.withoutWebhooks) each.observe(without);
      if (call.target.isResource && writes.has(call.method))
        validation.with(validationMode(call)).observe(milliseconds / 1000);
      if (call.removedRelease !== undefined) {
        const { group, version, resource, subresource } = call.target;
        deprecated.with(group, version, resource, subresource, call.removedRelease).set(1);
      }
      if (call.call.peer.trusted) own.with(bound.values[0]!, bound.values[4]!, bound.values[5]!).add();
      bound.sizes?.observe(bytes);
      if (call.bodyBytes > 0) bound.bodies?.observe(call.bodyBytes);
    },
    streaming: (call) => {
      const bound = boundFor(call);
      const [verb, , ...rest] = bound.values;
      const gauge = (bound.longRunning ??= longRunning.with(verb!, ...rest));
      gauge.add(1);
      return () => gauge.add(-1);
    },
    terminated: (call, code, by = component) => {
      const [verb, , ...rest] = boundFor(call).values;
      terminated.with(verb!, ...rest.slice(0, -1), by, String(code)).add();
    },
    aborted: (call) => {
      const [verb, , ...rest] = boundFor(call).values;
      aborted.with(verb!, ...rest.slice(0, -1)).add();
    },
    endedLate: (outcome) => late.with("timeout-handler", outcome).add(),
    authenticated: (username) => users.with(kindOfName(username)).add(),
    queued: (call, change) => (isMutating(call.target) ? waiting.write : waiting.read).add(change),
    watchEvents: ({ group, version, kind, resource }) => {
      const total = events.with(group, version, kind);
      const bytesOf = eventSizes.with(group, version, kind);
      return {
        sent: (count, bytes) => {
          total.add(count);
          // Events that are written together are counted with their mean size.
          bytesOf.observe(bytes / count, count);
        },
        terminated: () => slowWatchers.with(resource.groupResource).add(),
      };
    },
  };
}

const writes = new Set(["POST", "PUT", "PATCH"]);
const bodyVerbs = new Map([
  ["create", "create"],
  ["update", "update"],
  ["patch", "patch"],
  ["delete", "delete"],
  ["deletecollection", "delete_collection"],
]);
const groupResource = (resource: string, group: string): string =>
  group === "" ? resource : `${resource}.${group}`;
const validationModes = new Set(["", "Ignore", "Warn", "Strict"]);

function validationMode({ query }: ApiCall): string {
  const mode = query.get("fieldValidation") ?? "";
  return validationModes.has(mode) ? mode : "invalid";
}

/**
 * Returns the time an operation spent in webhook calls, which are spans at its top level. Validating webhooks
 * are called concurrently, so the longest of them counts.
 */
function webhookMilliseconds(operation: Span | undefined): number {
  let sequential = 0;
  let concurrent = 0;
  for (const item of operation?.items ?? []) {
    if (!(item instanceof Span)) continue;
    if (item.name === "Call validating webhook") concurrent = Math.max(concurrent, item.milliseconds);
    else if (item.name.endsWith(" webhook")) sequential += item.milliseconds;
  }
  return sequential + concurrent;
}

/**
 * Maps a user name to a label with few values, as in kube-apiserver: a few names, email addresses, and all
 * others.
 */
const kindOfName = (name: string): string =>
  name === "admin" || name === "client" ? name : name.includes("@") ? "email_id" : "other";

/** Maximum number of cached kinds of request; more than any server has. */
const maxKinds = 4096;
/** Maximum number per resource, as they are searched linearly; clients choose group and version. */
const maxKindsPerResource = 256;

const maxNameLength = 512;

/** The attributes that identify a kind of request, without interpreting them. */
interface RequestKind {
  /** For other paths, their first segment. */
  readonly resource: string;
  readonly method: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly subresource: string;
  /** One object, or all objects of a namespace or the cluster. */
  readonly scope: "object" | "namespace" | "cluster" | "";
  readonly dryRun: boolean;
  readonly force: boolean;
}

const nothing: RequestKind = {
  resource: "",
  method: "",
  verb: "",
  group: "",
  version: "",
  subresource: "",
  scope: "",
  dryRun: false,
  force: false,
};

function kindOf({ target, method, query }: ApiCall): RequestKind {
  const { verb, resource, group, version, subresource } = target;
  const scope = target.named ? "object" : target.namespace === "" ? "cluster" : "namespace";
  if (!target.isResource) return { ...nothing, method, resource: firstPart(target.path) };
  // Clients choose these strings; those of served resources are short.
  if (group.length + version.length + resource.length + subresource.length > maxNameLength)
    return { ...nothing, method, verb, scope };
  const dryRun = query.has("dryRun");
  return { resource, method, verb, group, version, subresource, scope, dryRun, force: query.has("force") };
}

const isSameKind = (one: RequestKind, other: RequestKind): boolean =>
  one.verb === other.verb &&
  one.scope === other.scope &&
  one.version === other.version &&
  one.group === other.group &&
  one.subresource === other.subresource &&
  one.method === other.method &&
  one.dryRun === other.dryRun &&
  one.force === other.force;

const verbs: Readonly<Record<string, string>> = {
  list: "LIST",
  watch: "WATCH",
  deletecollection: "DELETECOLLECTION",
  get: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};
const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"]);
const connecting = new Set(["attach", "exec", "proxy", "portforward"]);
const paths = new Set([
  "/healthz",
  "/livez",
  "/readyz",
  "/metrics",
  "/version",
  "/openapi",
  "/debug",
  "/api",
  "/apis",
  "/openid",
  "/.well-known",
  "/",
]);

function valuesOf(
  { target, query, method }: ApiCall,
  isServed: boolean,
  component: string,
): readonly string[] {
  const dryRun = query.has("dryRun") ? "All" : "";
  const verb = target.isResource
    ? connecting.has(target.subresource)
      ? "CONNECT"
      : (verbs[target.verb] ?? "other")
    : methods.has(method)
      ? method
      : "other";
  if (!target.isResource || !isServed) {
    const first = firstPart(target.path);
    return [verb, dryRun, "", "", "", paths.has(first) && !target.isResource ? first : "", "", component];
  }
  const scope =
    target.named || target.verb === "create" ? "resource" : target.namespace === "" ? "cluster" : "namespace";
  return [verb, dryRun, target.group, target.version, target.resource, target.subresource, scope, component];
}

function firstPart(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path.slice(0, 64) : path.slice(0, Math.min(end, 64));
}
