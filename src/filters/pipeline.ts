// The request pipeline, from the outermost filter to the innermost.
import type { Authenticator } from "#authn";
import type { AccessExplainer, Authorizer } from "#authz";
import type { Clock, Log } from "#base";
import type { Dialect } from "#dialect";
import type { FlowControl } from "#fairness";
import { type Call, type Reply, pipeline } from "#http";
import { ApiCall } from "#endpoints";
import { type AuditFilterOptions, auditFilter } from "./audit.ts";
import { newAuditId } from "./audit-id.ts";
import { authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { commonHeaders } from "./common-headers.ts";
import { deadline } from "./deadline.ts";
import { fairness } from "./fairness.ts";
import type { Filter } from "./filter.ts";
import { endConnection, goAway } from "./go-away.ts";
import { batchHeartbeats } from "./heartbeats.ts";
import { impersonate } from "./impersonate.ts";
import { type InFlightOptions, inFlightLimit } from "./in-flight.ts";
import { largeResponses } from "./large-responses.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { requestLog } from "./request-log.ts";
import { type RecoverOptions, asStatus, recover } from "./recover.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import { crossOrigin, strictTransport } from "./response-headers.ts";
import { shutdownFilter } from "./shutdown.ts";
import { type TracingOptions, authenticationSpan, requestSpans } from "./tracing.ts";

export interface PipelineOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly metrics: RequestMetrics;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly explainer: Pick<AccessExplainer, "refusal">;
  /** Whether authorizers consider the selectors of requests. */
  readonly selectors: boolean;
  readonly unexpected: RecoverOptions["unexpected"];
  /** Rate limit in bytes per second of each long-running response; 0 means unlimited. */
  readonly streamBytesPerSecond: number;
  readonly strictTransportDirectives: readonly string[];
  readonly goawayChance: number;
  /** Makes unauthenticated HTTP/2 clients reconnect for each request. */
  readonly endsUnauthenticated?: boolean;
  readonly requestTimeoutMilliseconds: number;
  readonly corsAllowedOrigins: Parameters<typeof crossOrigin>[0];
  readonly inFlight: Pick<InFlightOptions, "reading" | "writing">;
  /** If absent, the limits of requests in flight apply. */
  readonly flowControl?: FlowControl;
  readonly compress: boolean;
  /** Absent if no traces are exported. */
  readonly tracing?: TracingOptions | undefined;
  /** Absent if auditing is disabled. */
  readonly audit?: Pick<AuditFilterOptions, "audit" | "jsonOf"> | undefined;
}

export function filters(options: PipelineOptions): readonly Filter[] {
  const { dialect, clock, lifecycle, metrics, authenticator, authorizer } = options;
  const { strictTransportDirectives, goawayChance, corsAllowedOrigins, streamBytesPerSecond } = options;
  const audit =
    options.audit !== undefined &&
    auditFilter({
      ...options.audit,
      clock,
      dialect,
      latencyPrefix: dialect.names.audit.latencyPrefix,
      asStatus: (error, call) => asStatus(error, call, options),
    });
  const refused = (call: ApiCall): void => metrics.terminated(call, 429);
  const queued = (call: ApiCall, change: 1 | -1): void => metrics.queued(call, change);
  const { flowControl, inFlight } = options;
  const limits = flowControl
    ? [fairness({ flowControl, dialect, clock, ...inFlight, refused, queued })]
    : [inFlightLimit({ ...inFlight, clock, refused })];
  const { tracing } = options;
  const list: (Filter | false)[] = [
    tracing !== undefined && requestSpans(tracing),
    requestLog(options.log),
    commonHeaders,
    shutdownFilter({ lifecycle, observer: metrics, clock, streamBytesPerSecond }),
    recover({ dialect, unexpected: options.unexpected, failed: audit ? audit.failed : undefined }),
    strictTransportDirectives.length > 0 && strictTransport(strictTransportDirectives),
    goawayChance > 0 && goAway(goawayChance),
    deadline({
      clock,
      requestTimeoutMilliseconds: options.requestTimeoutMilliseconds,
      exceeded: (call) => metrics.terminated(call, 504),
      endedLate: (outcome) => metrics.endedLate(outcome),
    }),
    corsAllowedOrigins.length > 0 && crossOrigin(corsAllowedOrigins),
    batchHeartbeats(clock, dialect),
    tracing !== undefined && authenticationSpan,
    authenticate(authenticator, options.unexpected, options.log, {
      authenticated: (username) => metrics.authenticated(username),
      ...(options.endsUnauthenticated && { unauthenticated: endConnection }),
    }),
    audit && audit.requests,
    impersonate(authorizer, dialect, options.log),
    ...limits,
    authorize(authorizer, dialect, options.log, options),
    largeResponses({ clock, compress: options.compress, aborted: (call) => metrics.aborted(call) }),
    audit && audit.responses,
  ];
  return list.filter((filter) => filter !== false);
}

/** Measuring every request in every filter would cost more than most filters do. */
const measuredOneOf = 8;

/**
 * Returns a handler that passes calls through the filters in order and then to the endpoint. One of eight
 * requests is `measured` in each filter.
 */
export function requestHandler(
  list: readonly Filter[],
  handle: (call: ApiCall) => Promise<Reply>,
  measured: (filter: Filter) => Filter,
): (call: Call) => Promise<Reply> {
  const run = pipeline(list, handle);
  const runMeasured = pipeline(list.map(measured), handle);
  let turn = 0;
  return (call) => (turn++ % measuredOneOf === 0 ? runMeasured : run)(new ApiCall(call, newAuditId(call)));
}
