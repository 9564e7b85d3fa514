// Asks another HTTPS server by POST, as webhooks do: the server and the credentials come from a
// client-config file, failures are tried again with growing pauses.
import { Agent as PlainAgent, request as plainRequest } from "node:http";
import type { ClientRequest as NodeRequest, IncomingMessage } from "node:http";
import { Agent, request as tlsRequest } from "node:https";
import { type ConnectionOptions, connect } from "node:tls";
import { type Clock, refusalText } from "#base";
import { type Dial, checkServerIdentity, connectionErrorText, connectionsBy } from "#http";
import { connectionOf, readClientConfig } from "./client-config.ts";
import type { HttpsOptions } from "./https.ts";

export interface WebhookOptions {
  readonly connection: HttpsOptions;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Pause before the second attempt; it grows by half each time. */
  readonly initialBackoffMilliseconds?: number;
  /** Attempts in all. */
  readonly attempts?: number;
  /** Whether a failure is worth another attempt; by default those that pass by themselves. */
  readonly retryOn?: (error: WebhookError) => boolean;
  readonly timeoutMilliseconds?: number;
  /** Whether an answer must have a body. */
  readonly needsBody?: boolean;
  /** Opens connections, where they do not go straight. */
  readonly dial?: Dial | undefined;
}

export interface Webhook {
  /** Sends a JSON document and gives the answer's. Throws WebhookError when there is no good answer. */
  post(document: string, signal?: AbortSignal): Promise<string>;
  close(): void;
}

/** No answer, or one that says no. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  /** The status of the answer; undefined when none came. */
  readonly status: number | undefined;
  /** Whether a connection that was there broke. */
  readonly broken: boolean;
  /** Whether the answer said when to come back. */
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

/** The connection that a webhook's configuration file describes. Throws naming the file. */
export const webhookConnection = (file: string): HttpsOptions => connectionOf(readClientConfig(file));

const usualTimeoutMilliseconds = 30_000;
const growth = 1.5;
const jitter = 0.2;
const mostConnections = 64;
const largestAnswerBytes = 8 * 1024 * 1024;

/**
 * Connections that were reset, 429, 500, 504 and whatever names a time to come back: what the original tries
 * again. A server that refuses connections or answers 503 is not asked again.
 */
const passing = ({ status, broken, retryAfter }: WebhookError): boolean =>
  broken || retryAfter || status === 429 || status === 500 || status === 504;

export function webhook(options: WebhookOptions): Webhook {
  const { clock, attempts = 1, retryOn = passing, initialBackoffMilliseconds = 500 } = options;
  const sender = senderOf(options);
  return {
    post: async (document, signal) => {
      let pause = initialBackoffMilliseconds;
      for (let attempt = 1; ; attempt++) {
        try {
          return await sender.send(document, signal);
        } catch (error) {
          signal?.throwIfAborted();
          if (attempt >= attempts || !(error instanceof WebhookError) || !retryOn(error)) throw error;
        }
        await clock.sleep(pause * (1 + Math.random() * jitter), signal);
        pause *= growth;
      }
    },
    close: sender.close,
  };
}

interface Sender {
  send(document: string, signal: AbortSignal | undefined): Promise<string>;
  close(): void;
}

function senderOf({
  connection,
  userAgent,
  timeoutMilliseconds = usualTimeoutMilliseconds,
  needsBody = false,
  dial,
}: WebhookOptions): Sender {
  const url = new URL(connection.server.includes("://") ? connection.server : `https://${connection.server}`);
  url.searchParams.set("timeout", `${timeoutMilliseconds / 1000}s`);
  const secure = url.protocol === "https:";
  const agent = secure
    ? tlsAgent(connection, dial)
    : new PlainAgent({ keepAlive: true, maxSockets: mostConnections });
  if (dial && !secure) agent.createConnection = connectionsBy(dial);
  const headers = (document: string): Record<string, string | string[] | number> => {
    const token = connection.token?.();
    return {
      "content-type": "application/json",
      accept: "application/json, */*",
      "user-agent": userAgent,
      "content-length": Buffer.byteLength(document),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...connection.headers,
    };
  };
  const once = (document: string, signal: AbortSignal | undefined): Promise<string> =>
    new Promise((resolve, reject) => {
      const fail = (text: string, of?: WebhookFailure): void =>
        reject(new WebhookError(`Post ${JSON.stringify(url.href)}: ${text}`, of));
      const send = secure ? tlsRequest : plainRequest;
      let request: NodeRequest;
      try {
        request = send(url, {
          method: "POST",
          agent,
          headers: headers(document),
          ...(signal && { signal }),
        });
      } catch (error) {
        fail((error as Error).message);
        return;
      }
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${timeoutMilliseconds} ms`)),
        timeoutMilliseconds,
      );
      request.on("error", (error: NodeJS.ErrnoException) => {
        const gone = error.code === "ECONNRESET" || error.code === "EPIPE";
        // A connection that was kept may have been closed meanwhile: that is no failure of the server.
        if (gone && request.reusedSocket && !signal?.aborted) resolve(once(document, signal));
        // A server that hung up in good order did so on purpose.
        else
          fail(connectionErrorText(error, { host: url.hostname, port: Number(url.port) || 443 }), {
            broken: gone && error.syscall !== undefined,
          });
      });
      request.on("close", () => clearTimeout(timer));
      request.on("response", (answer) => {
        collect(answer).then(
          (text) => {
            const status = answer.statusCode ?? 0;
            const type = answer.headers["content-type"] ?? "";
            if (status < 200 || status > 206)
              reject(
                new WebhookError(refusalText(status, text, answer.headers["content-type"]), {
                  status,
                  retryAfter:
                    (status === 429 || status >= 500) && answer.headers["retry-after"] !== undefined,
                }),
              );
            else if (text === "" && needsBody)
              reject(
                new WebhookError(`0-length response with status code: ${status} and content type: ${type}`),
              );
            else resolve(text);
          },
          (error: Error) => fail(error.message),
        );
      });
      request.end(document);
    });
  return { send: once, close: () => agent.destroy() };
}

/** Certificates are read again for every new connection, so that rotated files are taken up. */
function tlsAgent(connection: HttpsOptions, dial: Dial | undefined): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: mostConnections });
  const secured = (given: ConnectionOptions): ConnectionOptions => {
    const { ca, certificate, key } = connection.secrets?.() ?? connection;
    return {
      ...given,
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      ...(connection.serverName !== undefined && { servername: connection.serverName }),
      rejectUnauthorized: !connection.insecure,
      checkServerIdentity,
    };
  };
  agent.createConnection = dial
    ? connectionsBy(dial, secured)
    : (given) => connect(secured(given as ConnectionOptions));
  return agent;
}

async function collect(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > largestAnswerBytes) throw new Error(`the answer is larger than ${largestAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
