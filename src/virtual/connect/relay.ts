// Plain requests proxied to a pod, a service or an agent, with their responses streamed back.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { pipeline } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { createGunzip, createInflate } from "node:zlib";
import { type ApiError, serviceUnavailable } from "#base";
import { type Dial, type Sink, checkServerIdentity, connectionErrorText, createConnectionWith } from "#http";
import { type PlainHeaders, endToEnd } from "./headers.ts";

export interface Upstream {
  readonly scheme: "http" | "https";
  readonly host: string;
  /** 0 for the default port of the scheme. */
  readonly port: number;
  /** Encoded, with the query. */
  readonly path: string;
  readonly method: string;
  readonly headers: PlainHeaders;
  readonly body?: Uint8Array;
  readonly tls?: ConnectionOptions;
  /** Opens the connection, if the target is not reached directly. */
  readonly dial?: Dial | undefined;
  readonly timeoutMilliseconds: number;
  /** Returns the error for a target that cannot be reached; default is that of proxies. */
  readonly unreachable?: (why: string) => ApiError;
}

const unreachableByProxy = (why: string): ApiError =>
  serviceUnavailable(`error trying to reach service: ${why}`);

/**
 * Sends the request and resolves with the head of the response. Only connecting has a timeout, the response
 * may take any time.
 */
export async function sendRequest(upstream: Upstream, signal: AbortSignal): Promise<IncomingMessage> {
  const { scheme, host, port, path, method, headers, body, tls, dial, timeoutMilliseconds } = upstream;
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const send = scheme === "https" ? tlsRequest : plainRequest;
    const outgoing = send({
      host,
      port: port || (scheme === "https" ? 443 : 80),
      path,
      method,
      headers,
      checkServerIdentity,
      ...tls,
      // A separate connection in either case.
      ...(dial
        ? { createConnection: createConnectionWith(dial, scheme === "https" ? () => tls ?? {} : undefined) }
        : { agent: false }),
    });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${timeoutMilliseconds} ms`)),
      timeoutMilliseconds || 30_000,
    );
    const onAbort = (): void => void outgoing.destroy(new Error((signal.reason as Error).message));
    signal.addEventListener("abort", onAbort, { once: true });
    outgoing.once("socket", (socket) => {
      if (dial && scheme === "http") clearTimeout(timer);
      else socket.once(scheme === "https" ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
    const fail = (text: string, cause?: Error): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      const failed = (upstream.unreachable ?? unreachableByProxy)(text);
      if (cause) failed.cause = cause;
      reject(failed);
    };
    outgoing.once("error", (error) => fail(connectionErrorText(error, { host, port }), error));
    // Without a listener the request would wait until the client gives up.
    outgoing.once("upgrade", ({ headers: { upgrade = "" } }, socket) => {
      socket.destroy();
      fail(`backend tried to switch protocol ${JSON.stringify(upgrade)} when "" was requested`);
    });
    outgoing.once("response", (message) => {
      const { statusCode = 0 } = message;
      // No reply can have such a status.
      if (statusCode < 100) {
        message.destroy();
        return fail(`malformed HTTP status code ${JSON.stringify(String(statusCode).padStart(3, "0"))}`);
      }
      clearTimeout(timer);
      message.once("close", () => signal.removeEventListener("abort", onAbort));
      resolve(message);
    });
    outgoing.end(body);
  });
}

const maxBacklogBytes = 1024 * 1024;

/**
 * Streams a body no faster than the client reads it; a transformed body still originates from the message.
 */
export async function pour(
  body: AsyncIterable<Buffer>,
  sink: Sink,
  message = body as IncomingMessage,
): Promise<void> {
  const stop = (): void => void message.destroy();
  if (sink.closed.aborted) return stop();
  sink.closed.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body) {
      sink.write(chunk);
      if (sink.backlogBytes > maxBacklogBytes) await sink.drained();
    }
  } catch (error) {
    if (!sink.closed.aborted) throw error;
  }
}

/** The end-to-end headers of a response, and its trailers with the header that announces them. */
export function relayedHeaders(message: IncomingMessage): {
  readonly headers: PlainHeaders;
  readonly trailers: () => PlainHeaders;
} {
  const { trailer, "content-length": length } = message.headers;
  // Only a body in chunks can have trailers.
  const announced = trailer !== undefined && length === undefined ? { trailer } : {};
  return {
    headers: { ...endToEnd(message.headers), ...announced },
    trailers: () => endToEnd(message.trailers),
  };
}

/** Returns the decompressed body; undefined if the encoding is unsupported. */
export function unpackedBody(message: IncomingMessage): AsyncIterable<Buffer> | undefined {
  const encoding = message.headers["content-encoding"] ?? "";
  if (encoding === "" || encoding === "identity") return message;
  const unpack = encoding === "gzip" ? createGunzip() : encoding === "deflate" ? createInflate() : undefined;
  // There may be no reader, as when the client has gone. An error without a listener would end the process.
  unpack?.on("error", () => undefined);
  return unpack && pipeline(message, unpack, () => undefined);
}

/** Returns the beginning of a body, for error messages. */
export async function readStart(message: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= most) break;
    }
  } catch {
    // A partial body suffices.
  }
  message.destroy();
  return Buffer.concat(chunks).subarray(0, most).toString();
}
