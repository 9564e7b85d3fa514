// Proxies to a pod, a service or a node by name: `…/proxy/<path>`.
import type { ConnectionOptions } from "node:tls";
import { badRequest, hostAndPort, methodNotAllowed, notFound, parseIp, serviceUnavailable } from "#base";
import type { Reply } from "#http";
import { type ApiCall, type VirtualResource, notServed, readAnyBody } from "#endpoints";
import { type ConnectContext, admitConnect } from "./context.ts";
import { type PlainHeaders, endToEnd, forwarded } from "./headers.ts";
import { type LinkBase, throughProxy, withLinks } from "./links.ts";
import { proxyableAddress, proxyableHost } from "./proxyable.ts";
import { sendRequest, pour, relayedHeaders, unpackedBody } from "./relay.ts";
import { tunnel } from "./tunnel.ts";

interface ProxyTarget {
  readonly scheme: "http" | "https";
  /** Host name in links, in the Host header and in the certificate. */
  readonly host: string;
  /** The address to dial. */
  readonly address: string;
  readonly port: number;
  /** Whether this is the node agent, which requires the server's client certificate. */
  readonly isAgent?: boolean;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const verbs = ["create", "delete", "get", "patch", "update"];

export function proxyEndpoints(context: ConnectContext): readonly VirtualResource[] {
  const proxy = (
    resource: string,
    kind: string,
    namespaced: boolean,
    locate: (call: ApiCall) => Promise<ProxyTarget>,
  ): VirtualResource => ({
    path: `${resource}/proxy`,
    kind,
    namespaced,
    verbs,
    handle: async (call) => {
      if (!call.target.named || (call.target.namespace !== "") !== namespaced) throw notServed();
      if (!methods.includes(call.method)) throw methodNotAllowed();
      await admitConnect(call, context, kind, { apiVersion: "v1", kind, ...optionsPath(call) });
      return await proxyRequest(context, call, await locate(call));
    },
  });
  return [
    proxy("pods", "PodProxyOptions", true, (call) => podTarget(context, call)),
    proxy("services", "ServiceProxyOptions", true, (call) => serviceTarget(context, call)),
    proxy("nodes", "NodeProxyOptions", false, (call) => nodeTarget(context, call)),
  ];
}

/** Parses `name`, `name:port` or `scheme:name:port`. */
function partsOf(
  id: string,
  what: string,
): { readonly scheme: "http" | "https" | undefined; readonly name: string; readonly port: string } {
  const parts = id.split(":");
  const [scheme, name, port] = parts.length === 3 ? parts : ["", ...parts, ""];
  if (parts.length > 3 || !name || (scheme && scheme !== "http" && scheme !== "https"))
    throw badRequest(`invalid ${what} request "${id}"`);
  return { scheme: (scheme || undefined) as "http" | "https" | undefined, name, port: port ?? "" };
}

function portOf(text: string, what: string): number {
  if (text === "") return 0;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65535)
    throw badRequest(`invalid port "${text}" of ${what}`);
  return Number(text);
}

async function podTarget({ resources }: ConnectContext, { target }: ApiCall): Promise<ProxyTarget> {
  const { scheme, name, port } = partsOf(target.name, "pod");
  const pod = await resources.pods.get(`${target.namespace}/${name}`);
  if (!pod) throw notFound({ group: "", resource: "pods" }, name);
  const host = proxyableAddress(pod.status.podIPs?.[0]?.ip ?? "");
  const first = (pod.spec.containers ?? []).flatMap(({ ports }) => ports ?? [])[0]?.containerPort ?? 0;
  return { scheme: scheme ?? "http", host, address: host, port: portOf(port, `pod ${name}`) || first };
}

async function nodeTarget({ agents }: ConnectContext, { target }: ApiCall): Promise<ProxyTarget> {
  const { scheme, name, port } = partsOf(target.name, "node");
  const agent = await agents.locate(name, "nodes");
  const address = await proxyableHost(agent.host);
  const wanted = portOf(port, `node ${name}`);
  return wanted === 0 || wanted === agent.port
    ? { scheme: "https", ...agent, address, isAgent: true }
    : { scheme: scheme ?? "http", host: agent.host, address, port: wanted };
}

async function serviceTarget({ resources }: ConnectContext, { target }: ApiCall): Promise<ProxyTarget> {
  const { scheme, name, port } = partsOf(target.name, "service");
  const service = await resources.services.get(`${target.namespace}/${name}`);
  if (!service) throw notFound({ group: "", resource: "services" }, name);
  const numbered = /^\d+$/.test(port)
    ? (service.spec.ports ?? []).find((each) => each.port === Number(port))
    : undefined;
  if (/^\d+$/.test(port) && !numbered)
    throw serviceUnavailable(`no service port ${port} found for service "${name}"`);
  const portName = numbered ? (numbered.name ?? "") : port;
  const endpoints = await resources.endpoints.get(`${target.namespace}/${name}`);
  // Reported as a missing service, as in kube-apiserver.
  if (!endpoints) throw notFound({ group: "", resource: "services" }, name);
  const found: ProxyTarget[] = [];
  for (const { addresses, ports } of endpoints.subsets ?? []) {
    const match = ports?.find((each) => (each.name ?? "") === portName);
    if (!match) continue;
    for (const { ip, targetRef } of addresses ?? []) {
      // Only addresses of pods: permission to write endpoints must not grant access to anything else.
      const pod =
        targetRef?.kind === "Pod"
          ? await resources.pods.get(`${target.namespace}/${targetRef.name}`)
          : undefined;
      if (pod?.status.podIPs?.some((each) => each.ip === ip))
        found.push({ scheme: scheme ?? "http", host: ip, address: ip, port: match.port });
    }
  }
  const place = found[Math.floor(Math.random() * found.length)];
  if (!place) throw serviceUnavailable(`no endpoints available for service "${name}"`);
  return { ...place, address: proxyableAddress(place.host) };
}

/**
 * Returns the path after `/proxy` for the options of the connection, with a trailing slash if the request had
 * one.
 */
function optionsPath({ call, target: { rest } }: ApiCall): { readonly path?: string } {
  const begun = rest && `/${rest}`;
  const path = call.path.endsWith("/") && !begun.endsWith("/") ? `${begun}/` : begun;
  return path ? { path } : {};
}

/** Returns the path after `/proxy`, still encoded. */
function pathAfterProxy({ call, target }: ApiCall): string {
  const segments = call.path.split("/");
  const depth = target.namespace ? 8 : 6;
  return segments.length > depth ? `/${segments.slice(depth).join("/")}` : "";
}

async function proxyRequest(context: ConnectContext, call: ApiCall, place: ProxyTarget): Promise<Reply> {
  const { call: raw, method } = call;
  const afterProxy = pathAfterProxy(call);
  const search = raw.search ? `?${raw.search}` : "";
  if (afterProxy === "" && (method === "GET" || method === "HEAD") && !raw.upgradable)
    return { status: 301, headers: { location: `${raw.path}/${search}` } };
  const path = `${afterProxy || "/"}${search}`;
  const { timeoutMilliseconds, dial } = context.agents;
  const tls = place.scheme === "http" ? undefined : tlsTo(place, context);
  if (raw.upgradable) {
    const port = place.port || (tls ? 443 : 80);
    const target = { host: place.address, port, path, tls, timeoutMilliseconds, dial };
    return await tunnel(raw, target, context.stopping);
  }
  const body = await readAnyBody(call);
  const sendsLength = body.length > 0 || (method !== "GET" && method !== "HEAD");
  const prefix = afterProxy === "" ? raw.path : raw.path.slice(0, raw.path.length - afterProxy.length);
  const { "content-length": _length, host, ...headers } = endToEnd(forwarded(raw));
  const message = await sendRequest(
    {
      scheme: place.scheme,
      host: place.address,
      port: place.port,
      path,
      method,
      headers: {
        ...headers,
        host: place.isAgent || host === undefined ? authorityOf(place) : host,
        ...(sendsLength && { "content-length": String(body.length) }),
        "x-forwarded-uri": raw.path,
        "x-forwarded-host": typeof host === "string" ? host : "",
        "x-forwarded-proto": "https",
      },
      ...(body.length > 0 && { body }),
      ...(tls && { tls }),
      timeoutMilliseconds,
      dial,
    },
    AbortSignal.any([raw.signal, context.stopping]),
  );
  const { headers: answered, trailers } = relayedHeaders(message);
  const base: LinkBase = {
    upstreamHost: authorityOf(place),
    requestHost: typeof host === "string" ? host : "",
    prefix,
  };
  const { location } = answered;
  if (typeof location === "string") answered["location"] = throughProxy(location, base);
  const unpacked =
    typeof location !== "string" && isPage(answered) && method !== "HEAD" ? unpackedBody(message) : undefined;
  if (!unpacked)
    return {
      status: message.statusCode ?? 502,
      headers: answered,
      trailers,
      body: { stream: (sink) => pour(message, sink) },
    };
  const { "content-length": _old, "content-encoding": _encoding, ...rest } = answered;
  return {
    status: message.statusCode ?? 502,
    headers: rest,
    trailers,
    body: {
      stream: (sink) =>
        pour(
          withLinks(unpacked, (link) => throughProxy(link, base)),
          sink,
          message,
        ),
    },
  };
}

/** The certificate is verified against the host name, although the address is dialed. */
const tlsTo = ({ host, isAgent }: ProxyTarget, { agents }: ConnectContext): ConnectionOptions => ({
  ...(isAgent ? agents.tls() : { rejectUnauthorized: false }),
  ...(parseIp(host) ? {} : { servername: host }),
});

const authorityOf = ({ host, port }: ProxyTarget): string =>
  port ? hostAndPort(host, port) : host.includes(":") ? `[${host}]` : host;

const isPage = ({ "content-type": type }: PlainHeaders): boolean =>
  typeof type === "string" && type.split(";")[0]!.trim().toLowerCase() === "text/html";
