// A POST with the semantics of client-go over Go's net/http client: redirects are followed, and requests are
// retried after a response with Retry-After, both within one deadline. Redirects to another server are not
// followed: a webhook server could otherwise make the API server send requests to any server it can reach
// (CVE-2020-8561).
import type { Clock } from "#base";
import { connectionErrorText } from "./connection-error.ts";
import type { DialAddress } from "./dial.ts";
import { type Exchange, UnfinishedBody } from "./http1-client.ts";
import type { WholeReply } from "./reply-reader.ts";

/** One request of a redirect chain. */
export interface Hop {
  /** A redirect by 301, 302 or 303 turns the request into a GET without a body. */
  readonly method: "POST" | "GET";
  readonly hasBody: boolean;
  readonly url: string;
  /** The URL that redirected here. */
  readonly referer?: string;
}

/** The server and path a URL refers to. */
export interface Location extends DialAddress {
  readonly secure: boolean;
  /** Includes the query. */
  readonly path: string;
  readonly hostHeader: string;
}

export function locationOf(url: string): Location {
  const { protocol, hostname, port, pathname, search, host } = new URL(url);
  const secure = protocol === "https:";
  return {
    secure,
    host: hostname.replaceAll(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 443 : 80) : Number(port),
    path: pathname + search,
    hostHeader: host,
  };
}

export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** Formats the request of a hop; body and content length are omitted if it has none. */
export function requestText(
  hop: Hop,
  { path, hostHeader }: Location,
  fields: HeaderFields,
  body: string,
): string {
  let text = `${hop.method} ${path} HTTP/1.1\r\nhost: ${hostHeader}\r\n`;
  for (const [name, value] of fields) text += `${name}: ${value}\r\n`;
  if (hop.referer !== undefined) text += `referer: ${hop.referer}\r\n`;
  return hop.hasBody ? `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}` : `${text}\r\n`;
}

/** A request that was sent, with its destination. */
export interface Sent {
  readonly exchange: Exchange;
  readonly address: DialAddress;
}

export interface PostRequestOptions {
  readonly clock: Clock;
  readonly limitMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly send: (hop: Hop) => Sent;
}

/** Maximum number of requests in a redirect chain. */
const maxHops = 10;

/** Maximum number of retries after responses with Retry-After. */
const maxRetries = 10;

/** Throws an error that names the URL if there is no response; its cause is the connection error. */
export async function postRequest(url: string, options: PostRequestOptions): Promise<WholeReply> {
  const { clock, limitMilliseconds, signal, send } = options;
  let ended: Error | undefined;
  let abortCurrent: (error: Error) => void = () => undefined;
  const end = (error: Error): void => {
    ended = error;
    abortCurrent(error);
  };
  const abort = (): void => end(signal!.reason as Error);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", abort, { once: true });
  const cancelTimer = clock.after(limitMilliseconds, () => end(new Error("context deadline exceeded")));
  const sendHop = async (hop: Hop): Promise<WholeReply> => {
    if (ended) throw failure(hop.url, ended.message, ended);
    let sent: Sent | undefined;
    try {
      sent = send(hop);
      abortCurrent = sent.exchange.abort;
      return await sent.exchange.reply;
    } catch (error) {
      const text = sent ? connectionErrorText(error as Error, sent.address) : (error as Error).message;
      if (error instanceof UnfinishedBody)
        throw new Error(
          `unexpected error when reading response body. Please retry. Original error: ${text}`,
          { cause: error },
        );
      throw failure(hop.url, text, error);
    }
  };
  try {
    for (let retries = 0; ; retries++) {
      const reply = await followRedirects({ method: "POST", hasBody: true, url }, sendHop);
      const wait = retries < maxRetries ? secondsToWait(reply) : undefined;
      if (wait === undefined) return reply;
      await new Promise<void>((resolve, reject) => {
        const cancel = clock.after(wait * 1000, resolve);
        abortCurrent = (error) => {
          cancel();
          reject(failure(url, error.message, error));
        };
      });
    }
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", abort);
  }
}

const failure = (url: string, text: string, cause: unknown): Error =>
  new Error(`Post ${JSON.stringify(url)}: ${text}`, { cause });

async function followRedirects(first: Hop, sendHop: (hop: Hop) => Promise<WholeReply>): Promise<WholeReply> {
  let hop = first;
  for (let hops = 1; ; hops++) {
    const reply = await sendHop(hop);
    const location = isRedirect(reply.status) ? (reply.headers.get("location") ?? "") : "";
    if (location === "") return reply;
    const next = redirected(hop, reply.status, location);
    if (hops === maxHops) throw failure(location, `stopped after ${maxHops} redirects`, undefined);
    hop = next;
  }
}

const isRedirect = (status: number): boolean =>
  status === 301 || status === 302 || status === 303 || status === 307 || status === 308;

function redirected({ method, url }: Hop, status: number, location: string): Hop {
  const locationProblem = locationError(location, url);
  if (locationProblem !== undefined) {
    const text = `failed to parse Location header ${JSON.stringify(location)}: parse ${JSON.stringify(location)}`;
    throw failure(url, `${text}: ${locationProblem}`, undefined);
  }
  const { origin, href } = new URL(location, url);
  if (origin !== new URL(url).origin)
    throw failure(location, "redirects to another server are not followed", undefined);
  const keepsMethod = status === 307 || status === 308;
  return { method: keepsMethod ? method : "GET", hasBody: keepsMethod, url: href, referer: url };
}

const locationError = (location: string, base: string): string | undefined =>
  location.startsWith(":")
    ? "missing protocol scheme"
    : URL.canParse(location, base)
      ? undefined
      : "invalid URL";

function secondsToWait({ status, headers }: WholeReply): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const header = headers.get("retry-after") ?? "";
  return /^[+-]?\d{1,9}$/.test(header) ? Math.max(0, Number(header)) : undefined;
}
