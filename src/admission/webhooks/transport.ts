// How webhooks are reached: by URL or through a service, over connections that are kept and reused.

import { Agent, request as httpsRequest } from "node:https";
import type { WebhookClientConfig } from "#api";
import type { Clock } from "#base";
import { type Dial, connectionsBy } from "#http";
import { type Attributes, type Span, traceparentOf } from "#tracing";
import { LRUCache } from "lru-cache";

/** Where the connections of a service go. */
export type ResolveService = (
  namespace: string,
  name: string,
  port: number,
) => Promise<{ readonly host: string; readonly port: number; readonly dial?: Dial | undefined }>;

/** How the server identifies itself to a host. */
export interface WebhookCredentials {
  readonly certificate?: string;
  readonly key?: string;
  readonly authorization?: string;
  readonly ca?: string;
}

/** The credentials for a host and port, or for a service by its name in the cluster. */
export type CredentialsFor = (host: string, port: number) => WebhookCredentials;

export interface TransportOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly resolveService: ResolveService;
  readonly credentialsFor?: CredentialsFor;
  /** Opens connections to URLs, where they do not go straight; services say so themselves. */
  readonly dial?: Dial | undefined;
  /** Told of every question once it is answered or has failed. */
  readonly observe?: (exchange: WebhookExchange) => void;
}

export interface WebhookExchange {
  readonly host: string;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly seconds: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface WebhookReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Posts JSON; throws when no reply comes. */
export type PostReview = (
  client: WebhookClientConfig,
  body: Record<string, unknown>,
  timeoutSeconds: number,
  /** The span that the question belongs to. */
  span?: Span,
) => Promise<WebhookReply>;

const mostReplyBytes = 16 * 1024 * 1024;
const mostAgents = 256;

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly hostHeader: string;
  /** The name that the certificate must carry; none for addresses. */
  readonly serverName: string | undefined;
  readonly credentials: WebhookCredentials;
  readonly dial?: Dial | undefined;
}

export function webhookTransport(options: TransportOptions): PostReview {
  const agents = new LRUCache<string, Agent>({ max: mostAgents, dispose: (agent) => agent.destroy() });
  const agentFor = (client: WebhookClientConfig, { credentials, serverName, dial }: Target): Agent => {
    const ca = [credentials.ca, textOf(client.caBundle)].filter(Boolean).join("\n");
    const key = JSON.stringify([ca, serverName, credentials]);
    const known = agents.get(key);
    if (known) return known;
    const agent = new Agent({
      keepAlive: true,
      ...(ca && { ca }),
      ...(serverName && { servername: serverName }),
      ...(credentials.certificate && { cert: credentials.certificate }),
      ...(credentials.key && { key: credentials.key }),
    });
    if (dial) agent.createConnection = connectionsBy(dial, (given) => given);
    agents.set(key, agent);
    return agent;
  };
  return async (client, body, timeoutSeconds, parent) => {
    const target = await targetOf(client, options);
    const text = JSON.stringify(body);
    const began = performance.now();
    let answer: WebhookReply | undefined;
    const span = parent?.child("HTTP POST", requestAttributes(target, options), { kind: "client" });
    try {
      answer = await post(target, agentFor(client, target), text, {
        ...options,
        timeoutSeconds,
        traceparent: traceparentOf(span),
      });
      span?.set({ "http.status_code": answer.status });
      return answer;
    } catch (error) {
      if (span) span.failed = true;
      throw error;
    } finally {
      span?.end();
      options.observe?.({
        host: target.hostHeader,
        ...(answer && { status: answer.status }),
        seconds: (performance.now() - began) / 1000,
        sentBytes: text.length,
        receivedBytes: answer?.body.length ?? 0,
      });
    }
  };
}

const requestAttributes =
  ({ hostHeader, path }: Target, { userAgent }: TransportOptions) =>
  (): Attributes => ({
    "http.url": `https://${hostHeader}${path}`,
    "http.user_agent": userAgent,
    "http.scheme": "https",
    "http.host": hostHeader,
    "http.flavor": "1.1",
    "http.method": "POST",
  });

const textOf = (bundle: unknown): string =>
  typeof bundle === "string"
    ? Buffer.from(bundle, "base64").toString("utf8")
    : bundle instanceof Uint8Array
      ? Buffer.from(bundle).toString("utf8")
      : "";

async function targetOf(
  { service, url }: WebhookClientConfig,
  { resolveService, credentialsFor, dial }: TransportOptions,
): Promise<Target> {
  const credentials = (host: string, port: number) => credentialsFor?.(host, port) ?? {};
  if (service) {
    const { namespace, name, path } = service;
    const port = service.port ?? 443;
    const serverName = `${name}.${namespace}.svc`;
    const address = await resolveService(namespace, name, port);
    return {
      ...address,
      path: path ?? "/",
      hostHeader: `${serverName}:${port}`,
      serverName,
      credentials: credentials(serverName, port),
    };
  }
  if (!url) throw new Error("webhook configuration must have either service or URL");
  const { hostname, port, pathname, host } = new URL(url);
  const number = port === "" ? 443 : Number(port);
  const bare = hostname.replaceAll(/^\[|\]$/g, "");
  return {
    host: bare,
    port: number,
    path: pathname,
    hostHeader: host,
    serverName: undefined,
    credentials: credentials(bare, number),
    dial,
  };
}

interface PostOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly timeoutSeconds: number;
  readonly traceparent: string | undefined;
}

function post(target: Target, agent: Agent, body: string, options: PostOptions): Promise<WebhookReply> {
  const { clock, userAgent, timeoutSeconds } = options;
  const path = `${target.path}?timeout=${timeoutSeconds}s`;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      cancelTimer();
      request.destroy();
      reject(new Error(`Post "https://${target.hostHeader}${path}": ${error.message}`));
    };
    const request = httpsRequest({
      agent,
      host: target.host,
      port: target.port,
      path,
      method: "POST",
      headers: {
        host: target.hostHeader,
        "content-type": "application/json",
        accept: "application/json, */*",
        "user-agent": userAgent,
        "content-length": Buffer.byteLength(body),
        ...(options.traceparent !== undefined && { traceparent: options.traceparent }),
        ...(target.credentials.authorization && { authorization: target.credentials.authorization }),
      },
    });
    const cancelTimer = clock.after(timeoutSeconds * 1000, () =>
      fail(new Error("context deadline exceeded")),
    );
    request.on("error", fail);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostReplyBytes) fail(new Error("the answer is too large"));
        else chunks.push(chunk);
      });
      response.on("error", fail);
      response.on("aborted", () => fail(new Error("unexpected EOF")));
      response.on("end", () => {
        cancelTimer();
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers["content-type"] ?? "",
          body: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    request.end(body);
  });
}
