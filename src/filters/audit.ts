// The audit filter: writes an event at each stage of a request for which the policy demands it.
import type { Audit, AuditConfig, ObjectReference, ResponseStatus } from "#audit";
import { AuditRecord } from "#audit";
import { ApiError, type Clock, durationOfMillis } from "#base";
import type { Dialect } from "#dialect";
import { type Body, type Reply, header, onceClosed } from "#http";
import { type ApiCall, justObjects, negotiate, statusObject } from "#endpoints";
import { auditClient } from "./audit-client.ts";
import type { Filter } from "./filter.ts";
import { latencyParts } from "./latency-parts.ts";
import { isLongRunning } from "./long-running.ts";

export interface AuditFilterOptions {
  readonly audit: Audit;
  readonly clock: Clock;
  /** Converts an error to the Status it is answered with. Reports whether it was an unexpected one. */
  readonly asStatus: (error: unknown, call: ApiCall) => { readonly error: ApiError; readonly panic: boolean };
  readonly dialect: Dialect;
  /** Key prefix of annotations about the latency of a request. */
  readonly latencyPrefix: string;
  /**
   * Returns the JSON of an object that was answered in another encoding; undefined if the response is not an
   * object.
   */
  readonly jsonOf: (reply: Reply, call: ApiCall) => string | undefined;
}

/** The parts of the audit filter, which take different places in the pipeline. */
export interface AuditFilter {
  /** Records a request that failed authentication. */
  readonly failed: (call: ApiCall, error: unknown) => Promise<void>;
  /** Runs after authentication and records all other requests. */
  readonly requests: Filter;
  /** Runs around the endpoint and keeps the response body if it is recorded. */
  readonly responses: Filter;
}

/** Requests that take longer get latency annotations. */
const slowMilliseconds = 500;

export function auditFilter(options: AuditFilterOptions): AuditFilter {
  const { audit, clock, asStatus } = options;
  const write = (
    record: AuditRecord,
    stage: Parameters<AuditRecord["event"]>[0],
    at?: number,
  ): Promise<boolean> | undefined => {
    if (record.omits(stage)) return undefined;
    audit.metrics.events.add();
    return audit.sink.write(record.event(stage, at ?? clock.now()));
  };
  const recordOf = (call: ApiCall): AuditRecord | undefined => {
    const config = configFor(audit, call);
    audit.metrics.level[config.level].add();
    return config.level === "None" ? undefined : new AuditRecord(config, requestOf(call));
  };
  const beforeSending = (): void => audit.sink.flush();

  const complete = (
    call: ApiCall,
    record: AuditRecord,
    stage: "ResponseComplete" | "Panic",
  ): Promise<boolean> | undefined => {
    const now = clock.now();
    const took = now - call.call.receivedAt;
    if (took > slowMilliseconds && !isLongRunning(call.target))
      for (const [part, milliseconds] of [
        ...Object.entries(latencyParts(call.operation, options.dialect)),
        ["total", took] as const,
      ])
        record.annotate(`${options.latencyPrefix}${part}`, durationOfMillis(milliseconds));
    return write(record, stage, now);
  };

  // Most events are stored without waiting: no promises are created for them.
  function recorded(call: ApiCall, record: AuditRecord, next: () => Promise<Reply>): Promise<Reply> {
    const received = write(record, "RequestReceived");
    if (!received) return answered(call, record, next);
    return received.then((stored) => {
      if (stored) return answered(call, record, next);
      audit.metrics.rejected.add();
      throw new ApiError(500, "InternalError", "Internal error occurred: failed to store audit event", {
        causes: [{ message: "failed to store audit event" }],
      });
    });
  }

  function answered(call: ApiCall, record: AuditRecord, next: () => Promise<Reply>): Promise<Reply> {
    let replying: Promise<Reply>;
    try {
      replying = next();
    } catch (thrown) {
      return failed(call, record, thrown);
    }
    return replying.then(
      (reply) => replied(call, record, reply),
      (thrown: unknown) => failed(call, record, thrown),
    );
  }

  async function failed(call: ApiCall, record: AuditRecord, thrown: unknown): Promise<never> {
    const { error, panic } = asStatus(thrown, call);
    recordFailure(record, error, acceptsErrors(call, options.dialect));
    if (isLongRunning(call.target)) await write(record, "ResponseStarted");
    await complete(call, record, panic ? "Panic" : "ResponseComplete");
    audit.sink.flush();
    throw error;
  }

  function replied(call: ApiCall, record: AuditRecord, reply: Reply): Reply | Promise<Reply> {
    if (!record.hasStatus) record.status({ code: reply.status });
    const started = isLongRunning(call.target) ? write(record, "ResponseStarted") : undefined;
    return started ? started.then(() => completed(call, record, reply)) : completed(call, record, reply);
  }

  function completed(call: ApiCall, record: AuditRecord, reply: Reply): Reply | Promise<Reply> {
    const { body } = reply;
    if (body !== undefined && "stream" in body)
      return { ...reply, body: untilEnd(call, record, body), beforeSending };
    if (body !== undefined && "takeOver" in body)
      return { ...reply, body: untilClosed(call, record, body), beforeSending };
    // Most events are stored before the response is sent, without waiting.
    const recordedReply = { ...reply, beforeSending };
    const storing = complete(call, record, "ResponseComplete");
    return storing ? storing.then(() => recordedReply) : recordedReply;
  }

  const untilEnd = (call: ApiCall, record: AuditRecord, { stream }: StreamBody): StreamBody => ({
    stream: async (sink) => {
      try {
        await stream(sink);
      } finally {
        await complete(call, record, "ResponseComplete");
        audit.sink.flush();
      }
    },
  });

  const untilClosed = (call: ApiCall, record: AuditRecord, { takeOver }: TakenOver): TakenOver => ({
    takeOver: (socket, head) => {
      onceClosed(socket, () => void complete(call, record, "ResponseComplete"));
      takeOver(socket, head);
    },
  });

  return {
    failed: async (call, error) => {
      if (call.user !== undefined || !(error instanceof ApiError)) return;
      const record = recordOf(call);
      if (!record) return;
      recordFailure(record, error, acceptsErrors(call, options.dialect), attemptedMethods(call));
      await write(record, "ResponseStarted");
      audit.sink.flush();
    },
    requests: {
      name: "audit",
      run: (call, next) => {
        const record = recordOf(call);
        if (!record) return next();
        call.audit = record;
        if (call.authenticationAnnotations)
          for (const [key, value] of Object.entries(call.authenticationAnnotations))
            record.annotate(key, value);
        return recorded(call, record, next);
      },
    },
    responses: {
      name: "audit of responses",
      run: (call, next) => {
        const { audit: record, target } = call;
        if (!record || !(record.wantsResponse || mayReturnStatus(call)) || isLongRunning(target))
          return next();
        return next().then((reply) => {
          recordResponse(record, reply, call, options.jsonOf);
          return reply;
        });
      },
    },
  };
}

/** Reports whether the client accepts a media type for errors; otherwise they are sent as JSON. */
function acceptsErrors(call: ApiCall, dialect: Dialect): boolean {
  try {
    negotiate(call.call, call.query, dialect, justObjects);
    return true;
  } catch {
    return false;
  }
}

/** Describes which authentication methods a request attempted. */
function attemptedMethods({ call, query }: ApiCall): string {
  const [scheme = "", ...rest] = (header(call.headers, "authorization") ?? "").trim().split(" ");
  const methods = [
    ...(rest.length > 0 && scheme.toLowerCase() === "basic" ? ["basic"] : []),
    ...(rest.length > 0 && scheme.toLowerCase() === "bearer" ? ["bearer"] : []),
    ...((query.get("access_token") ?? "").trim() === "" ? [] : ["access_token"]),
    ...(call.peer.certificates().length > 0 ? ["x509"] : []),
  ];
  return methods.length > 0
    ? `Authentication failed, attempted: ${methods.join(", ")}`
    : "Authentication failed, no credentials provided";
}

type StreamBody = Extract<Body, { readonly stream: unknown }>;
type TakenOver = Extract<Body, { readonly takeOver: unknown }>;

const statusOfError = (reason: ApiError): ResponseStatus => statusOf(statusObject(reason), reason.code);

function statusOf(status: Readonly<Record<string, unknown>>, code: number): ResponseStatus {
  return {
    status: status["status"] as string | undefined,
    message: status["message"] as string | undefined,
    reason: status["reason"] as string | undefined,
    details: status["details"],
    code,
  };
}

/**
 * Records an error. If the client accepts no media type for it, only its code is recorded, and for
 * unauthenticated requests the attempted methods.
 */
function recordFailure(
  record: AuditRecord,
  error: ApiError,
  acceptsError: boolean,
  attempted?: string,
): void {
  if (!acceptsError) return record.status({ code: error.code, ...(attempted && { message: attempted }) });
  record.status(statusOfError(error));
  record.responseObject(() => JSON.stringify(statusObject(error)));
}

/**
 * A Status in the response is part of every event; other bodies are only recorded at the level that includes
 * them.
 */
function recordResponse(
  record: AuditRecord,
  reply: Reply,
  call: ApiCall,
  jsonOf: AuditFilterOptions["jsonOf"],
): void {
  const maybeStatus = mayReturnStatus(call);
  if (!record.wantsResponse && !(maybeStatus && isSmall(reply) && !isOtherKind(reply))) return;
  const json = jsonOf(reply, call);
  if (json === undefined) return;
  const status = maybeStatus ? statusIn(json) : undefined;
  if (status) record.status(statusOf(status, reply.status));
  record.responseObject(() => json);
}

const mayReturnStatus = ({ target: { verb } }: ApiCall): boolean => verb === "delete" || verb === "create";

const mostStatusBytes = 4096;
function statusIn(json: string): Readonly<Record<string, unknown>> | undefined {
  if (json.length > mostStatusBytes || !/"kind":\s*"Status"/.test(json)) return undefined;
  const value = JSON.parse(json) as Record<string, unknown>;
  return value["kind"] === "Status" ? value : undefined;
}

const kindAt = '{"kind":"'.length;
const kindStart = Buffer.from('{"kind":"Status"');

/** Reports whether the body is an object of another kind than Status, by its first bytes, as we encode JSON. */
function isOtherKind({ body }: Reply): boolean {
  if (!(body instanceof Uint8Array) || body.length < kindStart.length) return false;
  for (let at = 0; at < kindStart.length; at++) if (body[at] !== kindStart[at]) return at >= kindAt;
  return false;
}

const isSmall = ({ body }: Reply): boolean => body instanceof Uint8Array && body.length <= mostStatusBytes;

function configFor(audit: Audit, { user, target }: ApiCall): AuditConfig {
  return audit.policy().configFor({
    user,
    verb: target.verb,
    path: target.path,
    resource: target.isResource ? target : undefined,
  });
}

function requestOf(call: ApiCall): ConstructorParameters<typeof AuditRecord>[1] {
  const { target } = call;
  const object: ObjectReference | undefined = target.isResource
    ? {
        fromPath: true,
        resource: target.resource,
        namespace: target.namespace,
        name: target.name,
        uid: "",
        apiGroup: target.group,
        apiVersion: target.version,
        resourceVersion: "",
        subresource: target.subresource,
      }
    : undefined;
  return {
    auditId: call.auditId,
    requestUri: call.call.path + (call.call.search === "" ? "" : `?${call.call.search}`),
    verb: target.verb,
    user: call.user,
    client: auditClient(call.call),
    object,
    receivedAt: distinctMicroseconds(call.call.receivedAt),
  };
}

/** Distinguishes requests of one millisecond by microseconds, in order of arrival. */
let lastReceived = 0;
function distinctMicroseconds(milliseconds: number): number {
  lastReceived = Math.max(milliseconds * 1000, Math.min(lastReceived + 1, milliseconds * 1000 + 999));
  return lastReceived / 1000;
}
