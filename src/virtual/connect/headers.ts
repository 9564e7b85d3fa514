// Headers of proxied requests and responses: which are forwarded, removed or added.
import { protocolsWithoutToken } from "#authn";
import { isImpersonationHeader } from "#authz";
import { streamProtocols } from "#dialect";
import { type Call, type HeaderValues, headerList } from "#http";

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

export type PlainHeaders = Record<string, string | string[]>;

/** Returns the headers of a request without those addressed to this server: credentials and impersonation. */
export function forwarded(call: Call): PlainHeaders {
  const headers: PlainHeaders = {};
  for (const [name, value] of Object.entries(call.headers)) {
    if (
      value === undefined ||
      name.startsWith(":") ||
      name === "authorization" ||
      isImpersonationHeader(name)
    )
      continue;
    headers[name] = typeof value === "string" ? value : [...value];
  }
  const protocols = headerList(call.headers, "sec-websocket-protocol");
  if (protocols.length) {
    const left = protocolsWithoutToken(protocols, streamProtocols.bearerTokenPrefix);
    if (left.length) headers["sec-websocket-protocol"] = left.join(", ");
    else delete headers["sec-websocket-protocol"];
  }
  const via = headerList(call.headers, "x-forwarded-for");
  if (call.peer.address) headers["x-forwarded-for"] = [...via, plainAddress(call.peer.address)].join(", ");
  const authority = call.headers[":authority"];
  if (typeof authority === "string") headers["host"] ??= authority;
  return headers;
}

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, "");

/** Returns headers without hop-by-hop headers and those named by the Connection header. */
export function endToEnd(headers: HeaderValues): PlainHeaders {
  const named = new Set(
    headerList(headers, "connection").flatMap((value) =>
      value
        .toLowerCase()
        .split(",")
        .map((name) => name.trim()),
    ),
  );
  const kept: PlainHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || hopByHop.has(name) || named.has(name)) continue;
    kept[name] = typeof value === "string" ? value : [...value];
  }
  return kept;
}
