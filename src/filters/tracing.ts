// Spans of sampled requests, with the names and attributes used by otelhttp and kube-apiserver: one for the
// request, one for everything from authentication on, one for encoding the response.
import { type Body, type Reply, header } from "#http";
import { type ApiCall, protocolOf, responding } from "#endpoints";
import { type Attributes, Span, type Tracer, parseTraceparent } from "#tracing";
import type { Filter } from "./filter.ts";

export interface TracingOptions {
  readonly tracer: Tracer;
  /** The name of request spans. */
  readonly serverSpan: string;
}

/** The outermost filter. */
export function requestSpans({ tracer, serverSpan }: TracingOptions): Filter {
  return {
    name: "tracing",
    run: async (call, next) => {
      const sender = parseTraceparent(header(call.call.headers, "traceparent"));
      // The trace context of a client is not trusted: it is linked, never continued.
      const span = tracer.serverSpan(serverSpan, () => requestAttributes(call, serverSpan), sender, true);
      if (!span) return await next();
      call.span = span;
      const reply = await next();
      const { body } = reply;
      span.set({ "http.status_code": reply.status, ...writtenBytes(body) });
      span.failed = reply.status >= 500;
      if (isObject(call, reply)) serialized(call, reply);
      if (!body || !("stream" in body)) {
        span.end();
        return reply;
      }
      const stream: typeof body.stream = (sink) => body.stream(sink).finally(() => span.end());
      return { ...reply, body: { stream } };
    },
  };
}

/** Covers authentication and everything after it; the only filter span in the reference, too. */
export const authenticationSpan: Filter = {
  name: "authentication span",
  run: async (call, next) => {
    if (!call.span) return await next();
    const span = (call.span = call.span.child("authentication"));
    try {
      return await next();
    } finally {
      span.end();
    }
  },
};

function requestAttributes({ call, bodyBytes }: ApiCall, serverName: string): Attributes {
  const { path, search } = call;
  const agent = header(call.headers, "user-agent");
  const forwarded = header(call.headers, "x-forwarded-for");
  const host = header(call.headers, ":authority") ?? header(call.headers, "host") ?? "";
  return {
    "net.transport": "ip_tcp",
    "net.peer.ip": call.peer.address,
    "http.target": search === "" ? path : `${path}?${search}`,
    "http.server_name": serverName,
    ...(forwarded !== undefined && { "http.client_ip": forwarded.split(",", 1)[0]! }),
    ...(agent !== undefined && { "http.user_agent": agent }),
    "http.scheme": "https",
    "http.host": host,
    "http.flavor": call.protocol,
    "http.method": call.method,
    ...(bodyBytes > 0 && { "http.read_bytes": bodyBytes }),
  };
}

function writtenBytes(body: Body | undefined): Attributes {
  if (body instanceof Uint8Array) return { "http.wrote_bytes": body.length };
  if (!Array.isArray(body)) return {};
  return {
    "http.wrote_bytes": body.reduce((sum: number, part: Uint8Array) => sum + part.length, 0),
  };
}

const media = /^application\/(json|yaml|vnd\.[a-z.]+\.protobuf)\b/;
const discovery = /^\/apis?(\/|$)/;

/** Reports whether the response is an API object, and not a page, a document or a stream of events. */
function isObject({ target }: ApiCall, { status, headers }: Reply): boolean {
  if (!media.test(String(headers["content-type"] ?? ""))) return false;
  if (status >= 400) return true;
  return target.verb !== "watch" && (target.isResource || discovery.test(target.path));
}

/** Records the span from when the handler had its result. */
function serialized(call: ApiCall, { headers, body }: Reply): void {
  const { call: request, auditId, target, operation } = call;
  const since = operation?.items.find((item) => item.name === responding);
  const mediaType = String(headers["content-type"]).split(";", 1)[0]!;
  const span = call.span!.child(
    "SerializeObject",
    {
      "audit-id": auditId,
      method: request.method,
      url: target.path,
      protocol: protocolOf(request),
      mediaType,
      encoder: encoderName(target.group, target.version, mediaType, isPretty(body)),
    },
    since && !(since instanceof Span) ? { began: since.at } : {},
  );
  const size = writtenBytes(body)["http.wrote_bytes"];
  span.event("About to start writing response", size === undefined ? undefined : { size });
  span.event("Write call succeeded", size === undefined ? undefined : { size });
  span.end();
}

const isPretty = (body: Body | undefined): boolean => body instanceof Uint8Array && body[1] === 0x0a;

/** The name of an encoder as in kube-apiserver. */
function encoderName(group: string, version: string, mediaType: string, pretty: boolean): string {
  const form = mediaType.replace(/^.*[./]/, "");
  const encoder =
    form === "protobuf"
      ? form
      : JSON.stringify({
          name: form,
          pretty: String(pretty),
          strict: "false",
          yaml: String(form === "yaml"),
        });
  const encodeGV = group === "" ? version || "v1" : `${group}/${version}`;
  return JSON.stringify({ encodeGV, encoder, name: "versioning" });
}
