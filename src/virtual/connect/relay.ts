// Plain requests passed on to a pod, a service or an agent, and their answers passed back as they come.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { pipeline } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { createGunzip, createInflate } from "node:zlib";
import { type ApiError, serviceUnavailable } from "#base";
import { type Dial, type Sink, checkServerIdentity, connectionErrorText, connectionsBy } from "#http";
import type { PlainHeaders } from "./headers.ts";

export interface Upstream {
  readonly scheme: "http" | "https";
  readonly host: string;
  /** 0 for the scheme's own. */
  readonly port: number;
  /** With the query, encoded. */
  readonly path: string;
  readonly method: string;
  readonly headers: PlainHeaders;
  readonly body?: Uint8Array;
  readonly tls?: ConnectionOptions;
  /** Opens the connection, where it does not go straight. */
  readonly dial?: Dial | undefined;
  readonly timeoutMilliseconds: number;
  /** How it is told that nobody was reached, and why; as proxies do unless it is given. */
  readonly unreached?: (why: string) => ApiError;
}

const unreachedByProxy = (why: string): ApiError =>
  serviceUnavailable(`error trying to reach service: ${why}`);

/**
 * Sends the request; resolves with the answer's head. Connecting has its time, answering may take as long as
 * it takes.
 */
export async function ask(upstream: Upstream, signal: AbortSignal): Promise<IncomingMessage> {
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
      // A connection of its own, whichever way it goes.
      ...(dial
        ? { createConnection: connectionsBy(dial, scheme === "https" ? () => tls ?? {} : undefined) }
        : { agent: false }),
    });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${timeoutMilliseconds} ms`)),
      timeoutMilliseconds || 30_000,
    );
    const gone = (): void => void outgoing.destroy(new Error("the client has gone"));
    signal.addEventListener("abort", gone, { once: true });
    outgoing.once("socket", (socket) => {
      if (dial && scheme === "http") clearTimeout(timer);
      else socket.once(scheme === "https" ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
    outgoing.once("error", (error) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
      const text = connectionErrorText(error, { host, port });
      const failed = (upstream.unreached ?? unreachedByProxy)(text);
      failed.cause = error;
      reject(failed);
    });
    outgoing.once("response", (message) => {
      clearTimeout(timer);
      message.once("close", () => signal.removeEventListener("abort", gone));
      resolve(message);
    });
    outgoing.end(body);
  });
}

const fullBacklog = 1024 * 1024;

/**
 * Passes a body on no faster than the client takes it; one that is changed on its way still comes from the
 * message.
 */
export async function pour(
  body: AsyncIterable<Buffer>,
  sink: Sink,
  message = body as IncomingMessage,
): Promise<void> {
  const stop = (): void => void message.destroy();
  sink.closed.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body) {
      sink.write(chunk);
      if (sink.backlogBytes > fullBacklog) await sink.drained();
    }
  } catch (error) {
    if (!sink.closed.aborted) throw error;
  }
}

/** The body as it reads; undefined where it is packed in a way that is not known here. */
export function unpackedBody(message: IncomingMessage): AsyncIterable<Buffer> | undefined {
  const encoding = message.headers["content-encoding"] ?? "";
  if (encoding === "" || encoding === "identity") return message;
  const unpack = encoding === "gzip" ? createGunzip() : encoding === "deflate" ? createInflate() : undefined;
  return unpack && pipeline(message, unpack, () => undefined);
}

/** The beginning of a body, for messages. */
export async function firstOf(message: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= most) break;
    }
  } catch {
    // What came is enough.
  }
  message.destroy();
  return Buffer.concat(chunks).subarray(0, most).toString();
}
