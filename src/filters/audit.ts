// The audit filter: what the policy wants recorded of a request is written at each of its stages.
import type { Audit, AuditConfig, ObjectReference, ResponseStatus } from "#audit";
import { AuditRecord } from "#audit";
import { ApiError, type Clock, durationOfMillis } from "#base";
import type { Dialect } from "#dialect";
import { type Call, type Reply, header } from "#http";
import { type ApiCall, statusObject } from "#endpoints";
import type { Filter } from "./filter.ts";
import { latencyParts } from "./latency-parts.ts";
import { isLongRunning } from "./long-running.ts";

export interface AuditFilterOptions {
  readonly audit: Audit;
  readonly clock: Clock;
  /** What a failure is answered with. Tells whether it was one that nobody expected. */
  readonly asStatus: (error: unknown, call: ApiCall) => { readonly error: ApiError; readonly panic: boolean };
  readonly dialect: Dialect;
  /** Begins the key of an annotation about the time a request took. */
  readonly latencyPrefix: string;
  /** The JSON of an object that was answered in another form; undefined for what is no object. */
  readonly jsonOf: (reply: Reply, call: ApiCall) => string | undefined;
}

/** The filter in its three places of the pipeline. */
export interface AuditFilter {
  /** Before authentication: records requests that do not get past it. */
  readonly failures: Filter;
  /** Behind authentication: records everything else. */
  readonly requests: Filter;
  /** Around the endpoint: keeps the answer where its body is recorded. */
  readonly responses: Filter;
}

/** Requests that take longer say so. */
const slowMilliseconds = 500;

export function auditFilter(options: AuditFilterOptions): AuditFilter {
  const { audit, clock, asStatus } = options;
  const write = (
    record: AuditRecord,
    stage: Parameters<AuditRecord["event"]>[0],
  ): Promise<boolean> | undefined => {
    if (record.omits(stage)) return undefined;
    audit.metrics.events.add();
    return audit.sink.write(record.event(stage, preciseNow(clock)));
  };
  const recordOf = (call: ApiCall): AuditRecord | undefined => {
    const config = configFor(audit, call);
    audit.metrics.level[config.level].add();
    return config.level === "None" ? undefined : new AuditRecord(config, requestOf(call));
  };
  return {
    failures: {
      name: "audit of failed authentication",
      run: async (call, next) => {
        try {
          return await next();
        } catch (error) {
          if (call.user === undefined && error instanceof ApiError) {
            const record = recordOf(call);
            if (record) {
              failed(record, error);
              await write(record, "ResponseStarted");
            }
          }
          throw error;
        }
      },
    },
    requests: {
      name: "audit",
      run: async (call, next) => {
        const record = recordOf(call);
        if (!record) return await next();
        call.audit = record;
        if (call.authenticationNotes)
          for (const [key, value] of Object.entries(call.authenticationNotes)) record.annotate(key, value);
        const received = write(record, "RequestReceived");
        if (received && !(await received)) {
          audit.metrics.rejected.add();
          throw new ApiError(500, "InternalError", "Internal error occurred: failed to store audit event", {
            causes: [{ message: "failed to store audit event" }],
          });
        }
        const lasting = isLongRunning(call.target);
        const complete = (stage: "ResponseComplete" | "Panic"): Promise<boolean> | undefined => {
          const took = clock.now() - call.call.receivedAt;
          if (!lasting && took > slowMilliseconds)
            for (const [part, milliseconds] of [
              ...Object.entries(latencyParts(call.operation, options.dialect)),
              ["total", took] as const,
            ])
              record.annotate(`${options.latencyPrefix}${part}`, durationOfMillis(milliseconds));
          return write(record, stage);
        };
        let reply: Reply;
        try {
          reply = await next();
        } catch (thrown) {
          const { error, panic } = asStatus(thrown, call);
          failed(record, error);
          if (lasting) await write(record, "ResponseStarted");
          await complete(panic ? "Panic" : "ResponseComplete");
          throw error;
        }
        if (!record.hasStatus) record.status({ code: reply.status });
        if (lasting) await write(record, "ResponseStarted");
        const { body } = reply;
        if (body !== undefined && "stream" in body) {
          const { stream } = body;
          const watched = async (sink: Parameters<typeof stream>[0]): Promise<void> => {
            try {
              await stream(sink);
            } finally {
              await complete("ResponseComplete");
            }
          };
          return { ...reply, body: { stream: watched } };
        }
        if (body !== undefined && "takeOver" in body) {
          const { takeOver } = body;
          return {
            ...reply,
            body: {
              takeOver: (socket, head) => {
                socket.once("close", () => void complete("ResponseComplete"));
                takeOver(socket, head);
              },
            },
          };
        }
        // Most events are stored by now: nothing is waited for.
        const storing = complete("ResponseComplete");
        if (storing) await storing;
        return reply;
      },
    },
    responses: {
      name: "audit of responses",
      run: async (call, next) => {
        const reply = await next();
        if (call.audit && !isLongRunning(call.target)) answered(call.audit, reply, call, options.jsonOf);
        return reply;
      },
    },
  };
}

const textOf = (reason: ApiError): ResponseStatus => statusOf(statusObject(reason), reason.code);

function statusOf(status: Readonly<Record<string, unknown>>, code: number): ResponseStatus {
  return {
    status: status["status"] as string | undefined,
    message: status["message"] as string | undefined,
    reason: status["reason"] as string | undefined,
    details: status["details"],
    code,
  };
}

function failed(record: AuditRecord, error: ApiError): void {
  record.status(textOf(error));
  record.responseObject(() => JSON.stringify(statusObject(error)));
}

/** A Status in the answer is part of every event; other bodies only at the level that records them. */
function answered(
  record: AuditRecord,
  reply: Reply,
  call: ApiCall,
  jsonOf: AuditFilterOptions["jsonOf"],
): void {
  const maybeStatus = call.target.verb === "delete" || call.target.verb === "create";
  if (!record.wantsResponse && !(maybeStatus && isSmall(reply))) return;
  const json = jsonOf(reply, call);
  if (json === undefined) return;
  const status = maybeStatus ? statusIn(json) : undefined;
  if (status) record.status(statusOf(status, reply.status));
  record.responseObject(() => json);
}

const mostStatusBytes = 4096;
function statusIn(json: string): Readonly<Record<string, unknown>> | undefined {
  if (json.length > mostStatusBytes || !/"kind":\s*"Status"/.test(json)) return undefined;
  const value = JSON.parse(json) as Record<string, unknown>;
  return value["kind"] === "Status" ? value : undefined;
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

const longestUserAgent = 1024;

function requestOf(call: ApiCall): ConstructorParameters<typeof AuditRecord>[1] {
  const { target } = call;
  const userAgent = header(call.call.headers, "user-agent") ?? "";
  const object: ObjectReference | undefined = target.isResource
    ? {
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
    sourceIps: sourceIps(call.call),
    userAgent:
      userAgent.length > longestUserAgent ? `${userAgent.slice(0, longestUserAgent)}...TRUNCATED` : userAgent,
    object,
    receivedAt: distinct(call.call.receivedAt),
  };
}

/** Where the request came from: the hops that proxies named, then the peer itself. */
export function sourceIps({ headers, peer }: Pick<Call, "headers" | "peer">): string[] {
  const found: string[] = [];
  const forwarded = header(headers, "x-forwarded-for");
  if (forwarded !== undefined)
    for (const part of forwarded.split(",").slice(0, mostHops))
      if (addressForm.test(part.trim())) found.push(part.trim());
  const real = header(headers, "x-real-ip");
  if (real !== undefined && addressForm.test(real) && !found.includes(real)) found.push(real);
  const address = peer.address.replace(/^::ffff:(?=\d+\.)/, "");
  if (address !== "" && found.at(-1) !== address) found.push(address);
  return found;
}

const mostHops = 32;
const addressForm = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/i;

/** Requests of one millisecond are told apart by their microseconds, in the order in which they came. */
let lastReceived = 0;
function distinct(milliseconds: number): number {
  lastReceived = Math.max(milliseconds * 1000, Math.min(lastReceived + 1, milliseconds * 1000 + 999));
  return lastReceived / 1000;
}
const preciseNow = (clock: Clock): number => clock.now();
