// Proxies requests for API versions of other servers with the identity of the client. Identity headers sent
// by the client are not forwarded.
import type { APIService } from "#api";
import { type Clock, hostAndPort } from "#base";
import { type ApiCall, readAnyBody } from "#endpoints";
import { endToEnd, forwarded, pour, relayedHeaders, requestUpstream, tunnel, unpackedBody } from "#virtual";
import type { HeaderValues, Reply } from "#http";
import { type ClientPair, backendOf } from "./backend.ts";
import type { AggregationObserver } from "./observer.ts";
import type { ResolveService } from "./resolve-service.ts";

export interface AggregationProxyOptions {
  readonly clock: Clock;
  readonly resolve: ResolveService;
  readonly pair: ClientPair;
  /** Redirects are rejected rather than returned to the client. */
  readonly rejectRedirects: boolean;
  readonly stopping: AbortSignal;
  readonly observer?: Pick<AggregationObserver, "failed" | "rejected"> | undefined;
}

const dialMilliseconds = 10_000;
/** The limit of a discovery request, which clients make before any other. */
const discoveryMilliseconds = 5000;
const redirected = "the backend attempted to redirect this request, which is not permitted";

export async function proxyRequest(
  call: ApiCall,
  service: APIService,
  options: AggregationProxyOptions,
): Promise<Reply> {
  const { call: raw, method, user } = call;
  if (!user) return text(500, "missing user");
  const target = await backendOf(service, options.resolve, options.pair).catch(() => undefined);
  if (!target) {
    options.observer?.rejected?.(call);
    return unavailable;
  }
  let identity;
  try {
    identity = identityOf(user);
  } catch (error) {
    return text(503, (error as Error).message);
  }
  const path = `${raw.path}${raw.search ? `?${raw.search}` : ""}`;
  const { host: requestedHost, ...given } = endToEnd(forwarded(raw));
  const headers = {
    ...withoutIdentity(given),
    ...identity,
    "x-forwarded-uri": raw.path,
    "x-forwarded-host": typeof requestedHost === "string" ? requestedHost : "",
    "x-forwarded-proto": "https",
    "audit-id": call.auditId,
  };
  const hostHeader = hostAndPort(target.host, target.port);
  if (raw.upgradable) {
    const upgrade = { connection: "Upgrade", upgrade: String(raw.headers["upgrade"] ?? "") };
    const upgradeCall = {
      ...raw,
      headers: { ...headers, ...upgrade, host: hostHeader },
      signal: call.signal,
    };
    return await tunnel(
      Object.setPrototypeOf(upgradeCall, raw) as typeof raw,
      { ...target, path, timeoutMilliseconds: dialMilliseconds },
      options.stopping,
    ).catch((error: Error) => text(503, error.message));
  }
  const body = await readAnyBody(call);
  const { "content-length": _length, ...rest } = headers as Record<string, string | string[]>;
  const unpack = rest["accept-encoding"] === undefined;
  const late = new AbortController();
  const expire = (): void => late.abort(new Error("context deadline exceeded"));
  const cancel = isDiscovery(call) ? options.clock.after(discoveryMilliseconds, expire) : undefined;
  try {
    const message = await requestUpstream(
      {
        scheme: "https",
        host: target.host,
        port: target.port,
        path,
        method,
        headers: {
          ...rest,
          ...(unpack && { "accept-encoding": "gzip" }),
          host: hostHeader,
          ...(body.length > 0 && { "content-length": String(body.length) }),
        },
        ...(body.length > 0 && { body }),
        tls: target.tls,
        dial: target.dial,
        timeoutMilliseconds: dialMilliseconds,
      },
      AbortSignal.any([call.signal, options.stopping, late.signal]),
    );
    // Until now the deadline was enforced by its filter; the body may stop arriving, too.
    message.once("close", cancel ?? afterDeadline(call, options.clock, expire));
    const status = message.statusCode ?? 502;
    // A redirect without a Location is an ordinary response.
    if (options.rejectRedirects && status >= 300 && status < 400 && message.headers.location) {
      message.destroy();
      return { ...text(502, "", false), body: Buffer.from(redirected) };
    }
    const { headers: answered, trailers } = relayedHeaders(message);
    const isPacked =
      unpack && message.headers["content-encoding"] && hasBody(method, status, message.headers);
    const unpacked = isPacked ? unpackedBody(message) : undefined;
    if (!unpacked)
      return { status, headers: answered, trailers, body: { stream: (sink) => pour(message, sink) } };
    const { "content-length": _old, "content-encoding": _encoding, ...plain } = answered;
    return { status, headers: plain, trailers, body: { stream: (sink) => pour(unpacked, sink, message) } };
  } catch (error) {
    cancel?.();
    options.observer?.failed?.(error);
    return text(503, (error as Error).message);
  }
}

/** Reports whether the resources of the version are requested. */
const isDiscovery = ({ target: { path } }: ApiCall): boolean => /^\/apis\/[^/]+\/[^/]+\/?$/.test(path);

/** Calls the listener at the deadline of the call, if there is one. Returns a function that cancels it. */
const afterDeadline = ({ deadline }: ApiCall, clock: Clock, listener: () => void): (() => void) =>
  deadline < Infinity ? clock.after(Math.max(0, deadline - clock.monotonic()), listener) : () => undefined;

/** Reports whether a response has a body, whatever its headers say about its encoding. */
const hasBody = (method: string, status: number, { "content-length": length }: HeaderValues): boolean =>
  method !== "HEAD" && status !== 204 && status !== 304 && length !== "0";

const identityHeader = /^x-remote-(?:user|uid|group|extra-)/;

const withoutIdentity = (headers: Record<string, string | string[]>): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !identityHeader.test(name)));

function identityOf({
  name,
  groups,
  extra,
}: NonNullable<ApiCall["user"]>): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "x-remote-user": headerValue("X-Remote-User", name) };
  if (groups.length > 0)
    headers["x-remote-group"] = groups.map((group) => headerValue("X-Remote-Group", group));
  for (const [key, values] of Object.entries(extra ?? {})) {
    const header = `x-remote-extra-${escapedKey(key)}`;
    headers[header] = values.map((value) => headerValue(header, value));
  }
  return headers;
}

/**
 * Returns the UTF-8 bytes of a value, as Latin-1. Identity providers may allow any character in names: a line
 * break would add headers, and with them groups.
 */
function headerValue(header: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\uffff]/.test(value))
    throw new Error(`net/http: invalid header field value for ${JSON.stringify(header)}`);
  return Buffer.from(value).toString("latin1");
}

/** Characters that are invalid in a header name are percent-encoded. */
const escapedKey = (key: string): string =>
  Array.from(Buffer.from(key.toLowerCase()), (byte) => {
    const character = String.fromCharCode(byte);
    return /[!#$&'*+\-.^_`|~0-9a-z]/.test(character) && character !== "%"
      ? character
      : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");

export const unavailable: Reply = {
  status: 503,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: Buffer.from("service unavailable\n"),
};

const text = (status: number, message: string, nosniff = true): Reply => ({
  status,
  headers: {
    "content-type": "text/plain; charset=utf-8",
    ...(nosniff && { "x-content-type-options": "nosniff" }),
  },
  body: Buffer.from(`${message}\n`),
});
