// Converts one HTTP/1.1 or HTTP/2 exchange to a Call and writes its Reply.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable as NodeReadable, Writable } from "node:stream";
import {
  IncompleteBody,
  BodyTooLarge,
  type Call,
  type HeaderValues,
  type Peer,
  type Reply,
  type Sink,
} from "./call.ts";
import { discardReply } from "./discard-reply.ts";
import { errorCode } from "./http2/frames.ts";
import { freeBuffers } from "./free-buffers.ts";
import { drainBytes } from "./http2/outbox.ts";
import { RequestBody } from "./http2/request-body.ts";
import type { Stream } from "./http2/stream.ts";

interface Readable {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  resume(): unknown;
  readonly destroyed: boolean;
  readonly readableEnded: boolean;
}

/**
 * Returns a function that reads a request body once. An interrupted stream ends like a complete one:
 * `complete` distinguishes them.
 */
function bodyReader(
  source: Readable,
  declared: string | undefined,
  complete: () => boolean,
  sendContinue?: () => void,
): Call["body"] {
  return (limitBytes) => {
    if (declared !== undefined && Number(declared) > limitBytes)
      return Promise.reject(new BodyTooLarge(limitBytes));
    // Waiting for an empty body may already reach its end, and Node does not emit the end event twice.
    if (source.readableEnded) return Promise.resolve(Buffer.alloc(0));
    if (source.destroyed) return Promise.reject(new IncompleteBody());
    sendContinue?.();
    return new Promise((resolve, reject) => {
      const chunks = new RequestBody();
      let size = 0;
      let done = false;
      const rejectIncomplete = (): void => {
        if (!done) reject(new IncompleteBody());
      };
      source.on("data", (chunk) => {
        size += chunk.length;
        if (size > limitBytes) {
          chunks.take();
          reject(new BodyTooLarge(limitBytes));
        } else chunks.add(chunk);
      });
      source.on("end", () => {
        if (!complete()) return rejectIncomplete();
        done = true;
        resolve(chunks.take());
      });
      source.on("error", rejectIncomplete);
      source.on("close", rejectIncomplete);
      source.resume();
    });
  };
}

export const splitTarget = (target: string): [path: string, search: string] => {
  const cut = target.indexOf("?");
  return cut < 0 ? [target, ""] : [target.slice(0, cut), target.slice(cut + 1)];
};

/** Returns a function that creates an AbortSignal on first use. */
export function lazySignal(onClose: (abort: () => void) => void): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (!controller) {
      controller = new AbortController();
      onClose(() => controller!.abort(new Error("the client closed the connection")));
    }
    return controller.signal;
  };
}

/** Separates the values of repeated headers, which Node joins. */
export function separateRepeated(headers: HeaderValues, raw: readonly string[]): HeaderValues {
  let names = 0;
  for (const _ in headers) names++;
  if (names * 2 === raw.length) return headers;
  const values = Object.create(null) as Record<string, string | string[]>;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const known = values[name];
    values[name] = known === undefined ? raw[at + 1]! : [known, raw[at + 1]!].flat();
  }
  return values;
}

/** The signal that is aborted when the client disconnects before its response is complete. */
const disconnectSignal = (stream: Stream): (() => AbortSignal) =>
  lazySignal((abort) => stream.onClose(() => stream.responseSent || abort()));

/** A class, since one is created per request: this avoids allocating closures. */
class Http2Call implements Call {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: HeaderValues;
  readonly protocol = "2";
  readonly peer: Peer;
  readonly receivedAt: number;
  readonly upgradable = false;
  private readonly stream: Stream;
  private gone: (() => AbortSignal) | undefined;

  constructor(stream: Stream, peer: Peer, now: number) {
    this.stream = stream;
    const { method, target, headers } = stream.head;
    this.method = method;
    [this.path, this.search] = splitTarget(target);
    this.headers = headers;
    this.peer = peer;
    this.receivedAt = now;
  }

  get signal(): AbortSignal {
    this.gone ??= disconnectSignal(this.stream);
    return this.gone();
  }

  onFinished(listener: () => void): void {
    this.stream.onClose(listener);
  }

  sentBytes(): number {
    return this.stream.sentBytes();
  }

  abort(): void {
    this.stream.reset(errorCode.enhanceYourCalm);
  }

  body(limitBytes: number): Promise<Uint8Array> {
    return this.stream.body(limitBytes);
  }

  bodyBuffered(): Promise<void> {
    return this.stream.buffered();
  }

  goAway(atOnce?: boolean): void {
    this.stream.goAway(atOnce);
  }
}

export const callFromHttp2 = (stream: Stream, peer: Peer, now: number): Call =>
  new Http2Call(stream, peer, now);

/** Removes the origin of a request target in absolute form, as sent to proxies. */
const withoutOrigin = (target: string): string =>
  target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");

export interface Http1CallOptions {
  readonly upgradable?: boolean;
  /** The response: once it is finished, the connection continues without this call. */
  readonly response?: ServerResponse;
  /** Sends 100 Continue to a client that waits for it before sending its body. */
  readonly sendContinue?: () => void;
}

export function callFromHttp1(
  request: IncomingMessage,
  peer: Peer,
  now: number,
  { upgradable = false, response, sendContinue }: Http1CallOptions = {},
): Call {
  const [path, search] = splitTarget(withoutOrigin(request.url ?? "/"));
  const signal = lazySignal((abort) => {
    const { socket } = request;
    if (response?.writableFinished) return;
    if (socket.destroyed) return abort();
    socket.once("close", abort);
    response?.once("finish", () => socket.off("close", abort));
  });
  return {
    method: request.method ?? "GET",
    path,
    search,
    headers: separateRepeated(request.headers, request.rawHeaders),
    protocol: "1.1",
    peer,
    receivedAt: now,
    get signal() {
      return signal();
    },
    onFinished: (listener) => onceClosed(response ?? request.socket, listener),
    sentBytes: () => request.socket.bytesWritten - request.socket.writableLength,
    abort: () => void request.socket.destroy(),
    body: bodyReader(request, request.headers["content-length"], () => request.complete, sendContinue),
    upgradable,
    bodyBuffered: () => buffered(request, () => request.complete, sendContinue),
    goAway: () => undefined,
  };
}

/** Calls the listener when a Node stream is closed, or at once if it is closed already. */
export function onceClosed(stream: NodeReadable | Writable, listener: () => void): void {
  if (stream.closed) listener();
  else stream.once("close", listener);
}

/**
 * Resolves when a request is complete, its buffer is full or its connection is closed. Does not consume any
 * of it.
 */
function buffered(request: NodeReadable, complete: () => boolean, sendContinue?: () => void): Promise<void> {
  const isBuffered = (): boolean =>
    complete() || request.destroyed || request.readableLength >= request.readableHighWaterMark;
  if (isBuffered()) return Promise.resolve();
  sendContinue?.();
  return new Promise((resolve) => {
    const check = (): void => {
      if (!isBuffered()) return;
      for (const event of ["readable", "end", "close"]) request.off(event, check);
      resolve();
    };
    for (const event of ["readable", "end", "close"]) request.on(event, check);
  });
}

/** Returns a Sink that writes to a Node stream. */
export function sinkOver(writable: Writable): Sink {
  const closed = new AbortController();
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const close = (): void => {
    closed.abort();
    wake();
  };
  writable.once("close", close);
  writable.once("error", close);
  writable.on("drain", wake);
  if (writable.destroyed) close();
  return {
    write: (chunk) => {
      if (!closed.signal.aborted && !writable.writableEnded) writable.write(chunk);
    },
    get backlogBytes() {
      return writable.writableLength;
    },
    drained: () =>
      closed.signal.aborted || writable.writableLength < drainBytes
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push(resolve)),
    closed: closed.signal,
  };
}

type PlainHeaders = Record<string, string | string[] | number>;
const isBytes = (body: unknown): body is Uint8Array => body instanceof Uint8Array;

/** Returns a Sink that writes to an HTTP/2 stream. */
function sinkOverStream(stream: Stream): Sink {
  const closed = disconnectSignal(stream);
  return {
    write: (chunk) => stream.write(chunk),
    get backlogBytes() {
      return stream.pendingBytes;
    },
    drained: () => stream.drained(drainBytes),
    end: () => stream.end(),
    get closed() {
      return closed();
    },
  };
}

const nothing: readonly Uint8Array[] = [];

export async function replyOnHttp2(
  stream: Stream,
  method: string,
  reply: Reply,
  date: string,
): Promise<void> {
  const headers: PlainHeaders = { date, ...(reply.headers as PlainHeaders) };
  if (isBodiless(reply.status)) delete headers["content-length"];
  const body = reply.body;
  if (body && "takeOver" in body) throw new Error("an HTTP/2 stream cannot be taken over");
  stream.beforeSending = reply.beforeSending;
  // Bytes that were sent have been copied into a batch.
  const { unshared } = reply;
  if (unshared) stream.onClose(() => freeBuffers(unshared));
  if (body && "stream" in body) {
    stream.respond(reply.status, headers, nothing, method === "HEAD");
    if (method === "HEAD") return await discardReply(reply);
    await body.stream(sinkOverStream(stream));
    stream.end(trailersOf(reply));
    return;
  }
  const parts = body === undefined ? nothing : isBytes(body) ? [body] : body;
  if (body && !isBodiless(reply.status))
    headers["content-length"] ??= isBytes(body) ? body.length : lengthOf(body);
  stream.respond(reply.status, headers, method === "HEAD" ? nothing : parts, true);
}

export async function replyOnHttp1(response: ServerResponse, method: string, reply: Reply): Promise<void> {
  if (response.destroyed) return await discardReply(reply);
  reply.beforeSending?.();
  const headers = { ...reply.headers } as PlainHeaders;
  if (isBodiless(reply.status)) delete headers["content-length"];
  const body = reply.body;
  if (body === undefined || isBytes(body)) {
    if (!isBodiless(reply.status)) headers["content-length"] ??= body?.length ?? 0;
    response.writeHead(reply.status, headers);
    response.end(method === "HEAD" ? undefined : body);
    return;
  }
  if ("takeOver" in body) throw new Error("the connection of a plain request cannot be taken over");
  if (!("stream" in body)) {
    if (!isBodiless(reply.status)) headers["content-length"] ??= lengthOf(body);
    response.writeHead(reply.status, headers);
    writeParts(body, response);
    return;
  }
  // Node refuses to announce trailers that it cannot send.
  if (method === "HEAD" || isBodiless(reply.status) || !response.useChunkedEncodingByDefault)
    delete headers["trailer"];
  response.writeHead(reply.status, headers);
  // Sends the headers. flushHeaders() would encode their bytes as UTF-8.
  response.write(noBytes);
  if (method !== "HEAD") return await writeStream(body.stream, response, reply);
  response.end();
  await discardReply(reply);
}

const noBytes = Buffer.alloc(0);

/**
 * Reports whether responses with the status have no body and no content length, which would be a protocol
 * error over HTTP/2 (RFC 9110 §8.6). The response of a backend may declare one.
 */
export const isBodiless = (status: number): boolean => status === 204 || status === 304;
export const lengthOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, part) => sum + part.length, 0);

function writeParts(parts: readonly Uint8Array[], out: Writable): void {
  out.cork();
  for (const part of parts) out.write(part);
  out.end();
  process.nextTick(() => out.uncork());
}

/** Streams a body. If the stream fails, the response must not look complete: the caller aborts it. */
async function writeStream(
  run: (sink: Sink) => Promise<void>,
  out: ServerResponse,
  reply: Reply,
): Promise<void> {
  await run(sinkOver(out));
  if (out.destroyed) return;
  out.addTrailers(trailersOf(reply) ?? {});
  out.end();
}

/** Returns the trailers of a response whose body has been written; undefined if there are none. */
export function trailersOf({ trailers }: Reply): Record<string, string | string[]> | undefined {
  const found = trailers?.() ?? {};
  return Object.keys(found).length > 0 ? (found as Record<string, string | string[]>) : undefined;
}
