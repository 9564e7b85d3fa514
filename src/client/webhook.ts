// Calls a webhook or similar HTTPS server by POST: the server and the credentials come from a client-config
// file, failures are retried with backoff.
import { type Socket, connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Clock, responseErrorText } from "#base";
import {
  type Dial,
  type HeaderFields,
  type Hop,
  Http1Client,
  type Location,
  type WholeReply,
  checkServerIdentity,
  locationOf,
  postRequest,
  requestText,
  trust,
} from "#http";
import { connectionOf, readClientConfig } from "./client-config.ts";
import type { HttpsOptions } from "./https.ts";

export interface WebhookOptions {
  readonly connection: HttpsOptions;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Backoff before the second attempt; it grows by half each time. */
  readonly initialBackoffMilliseconds?: number;
  /** Total number of attempts. */
  readonly attempts?: number;
  /** Reports whether a failure should be retried; by default those that are temporary. */
  readonly retryOn?: (error: WebhookError) => boolean;
  /** Timeout of one attempt, including redirects and retries after Retry-After. */
  readonly timeoutMilliseconds?: number;
  /** Timeout of all attempts together. */
  readonly deadlineMilliseconds?: number;
  /** The response must have a body. */
  readonly needsBody?: boolean;
  /** Opens connections in place of the default. */
  readonly dial?: Dial | undefined;
}

export interface Webhook {
  /**
   * Sends a JSON document and returns that of the response. Throws WebhookError if there is no successful
   * response.
   */
  post(document: string, signal?: AbortSignal): Promise<string>;
  close(): void;
}

/** No response, or one with an error status. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  /** The status of the response; undefined without one. */
  readonly status: number | undefined;
  /** An established connection broke. */
  readonly broken: boolean;
  /** The response had a Retry-After header. */
  readonly retryAfter: boolean;
  constructor(message: string, of: WebhookFailure = {}) {
    super(message);
    this.status = of.status;
    this.broken = of.broken ?? false;
    this.retryAfter = of.retryAfter ?? false;
  }
}

interface WebhookFailure {
  readonly status?: number;
  readonly broken?: boolean;
  readonly retryAfter?: boolean;
}

/** Returns the connection described by a webhook's configuration file. Errors name the file. */
export const webhookConnection = (file: string): HttpsOptions => connectionOf(readClientConfig(file));

const defaultTimeoutMilliseconds = 30_000;
const defaultAttempts = 5;
const growth = 1.5;
const jitter = 0.2;
const largestAnswerBytes = 8 * 1024 * 1024;

/**
 * The errors that client-go retries: connections that were reset, 429, 5xx other than 503, and responses with
 * Retry-After. A refused connection is not retried.
 */
const isTemporary = ({ status = 0, broken, retryAfter }: WebhookError): boolean =>
  broken || retryAfter || status === 429 || (status >= 500 && status !== 503);

export function webhook(options: WebhookOptions): Webhook {
  const {
    clock,
    attempts = defaultAttempts,
    retryOn = isTemporary,
    initialBackoffMilliseconds = 500,
  } = options;
  const { deadlineMilliseconds = Infinity } = options;
  const sender = senderOf(options);
  return {
    post: async (document, signal) => {
      const deadline = clock.monotonic() + deadlineMilliseconds;
      let backoff = initialBackoffMilliseconds;
      for (let attempt = 1; ; attempt++) {
        const milliseconds = backoff * (1 + Math.random() * jitter);
        try {
          return await sender.send(document, deadline - clock.monotonic(), signal);
        } catch (error) {
          signal?.throwIfAborted();
          if (attempt >= attempts || !(error instanceof WebhookError) || !retryOn(error)) throw error;
          if (clock.monotonic() + milliseconds >= deadline) throw error;
        }
        await clock.sleep(milliseconds, signal);
        backoff *= growth;
      }
    },
    close: sender.close,
  };
}

interface Sender {
  send(document: string, limitMilliseconds: number, signal: AbortSignal | undefined): Promise<string>;
  close(): void;
}

function senderOf(options: WebhookOptions): Sender {
  const { connection, clock, userAgent, timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
  const webhookUrl = urlOf(connection.server, timeoutMilliseconds);
  const origin = locationOf(webhookUrl);
  const client = new Http1Client({
    connect: connectionsTo(origin, options),
    maxReplyBytes: largestAnswerBytes,
  });
  const fields = (): HeaderFields => {
    const token = connection.token?.();
    return [
      ["content-type", "application/json"],
      ["accept", "application/json, */*"],
      ["user-agent", userAgent],
      // Credentials are only sent over TLS.
      ...(origin.secure
        ? [
            ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
            ...Object.entries(connection.headers ?? {}).flatMap(([name, values]) =>
              [values].flat().map((value) => [name, value] as const),
            ),
          ]
        : []),
    ];
  };
  // A trailing newline, as written by Go's encoder.
  const send = (document: string) => (hop: Hop) => {
    const location = hop.url === webhookUrl ? origin : locationOf(hop.url);
    return {
      exchange: client.send(requestText(hop, location, fields(), `${document}\n`)),
      address: location,
    };
  };
  return {
    send: async (document, mostMilliseconds, signal) => {
      const limits = { clock, limitMilliseconds: Math.min(timeoutMilliseconds, mostMilliseconds), signal };
      const reply = await postRequest(webhookUrl, { ...limits, send: send(document) }).catch(
        (error: Error) => {
          const { code, syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
          // A server that closed the connection properly did so on purpose.
          const broken = syscall !== undefined && (code === "ECONNRESET" || code === "EPIPE");
          throw new WebhookError(error.message, { broken });
        },
      );
      return bodyOf(reply, options.needsBody ?? false);
    },
    close: () => client.close(),
  };
}

/** Returns the server's URL without its query, as client-go does. */
function urlOf(server: string, timeoutMilliseconds: number): string {
  const url = new URL(server.includes("://") ? server : `https://${server}`);
  const path = url.pathname.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
  return `${url.protocol}//${url.host}${path}?timeout=${timeoutMilliseconds / 1000}s`;
}

function bodyOf({ status, headers, body }: WholeReply, needsBody: boolean): string {
  const text = body.toString();
  const type = headers.get("content-type") ?? "";
  if (status < 200 || status > 206)
    throw new WebhookError(responseErrorText(status, text, type), {
      status,
      retryAfter: /^\+?0*[1-9]\d*$/.test(headers.get("retry-after") ?? ""),
    });
  if (text === "" && needsBody)
    throw new WebhookError(`0-length response with status code: ${status} and content type: ${type}`);
  return text;
}

/**
 * Returns a function that opens connections. Certificates are read for every new connection, so that rotated
 * files are used.
 */
function connectionsTo(
  { host, port, secure }: Location,
  { connection, dial }: WebhookOptions,
): () => Promise<Socket> {
  return async () => {
    const socket = dial && (await dial({ host, port }));
    if (!secure) return socket ?? connect({ host, port });
    const { ca, certificate, key } = connection.secrets?.() ?? connection;
    return connectTls({
      host,
      port,
      ...(socket && { socket }),
      ...(ca !== undefined && trust(ca)),
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      servername: connection.serverName ?? (isIP(host) === 0 ? host : ""),
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: !connection.insecure,
      checkServerIdentity,
    });
  };
}
