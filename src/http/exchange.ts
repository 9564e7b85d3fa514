// One HTTP/1.1 or HTTP/2 exchange turned into a Call, and a Reply put on the wire.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type IncomingHttpHeaders, type ServerHttp2Stream, constants } from "node:http2";
import type { Writable } from "node:stream";
import { BodyCutShort, BodyTooLarge, type Call, type Peer, type Reply, type Sink } from "./call.ts";

interface Readable {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close" | "aborted", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** Collects a request body, once. */
function bodyReader(source: Readable, declared: string | undefined): Call["body"] {
  return (limitBytes) => {
    if (declared !== undefined && Number(declared) > limitBytes) return Promise.reject(new BodyTooLarge(limitBytes));
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      let done = false;
      const cutShort = (): void => {
        if (!done) reject(new BodyCutShort());
      };
      source.on("data", (chunk) => {
        size += chunk.length;
        if (size > limitBytes) {
          chunks.length = 0;
          reject(new BodyTooLarge(limitBytes));
        } else chunks.push(chunk);
      });
      source.on("end", () => {
        done = true;
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      });
      source.on("error", cutShort);
      source.on("close", cutShort);
    });
  };
}

const splitTarget = (target: string): [path: string, search: string] => {
  const cut = target.indexOf("?");
  return cut < 0 ? [target, ""] : [target.slice(0, cut), target.slice(cut + 1)];
};

/** An AbortSignal made only when somebody asks for it. */
function lazySignal(onClose: (abort: () => void) => void): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (!controller) {
      controller = new AbortController();
      onClose(() => controller!.abort(new Error("the client closed the connection")));
    }
    return controller.signal;
  };
}

export function callFromHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer, now: number): Call {
  const [path, search] = splitTarget(headers[":path"] ?? "/");
  const signal = lazySignal((abort) => (stream.destroyed ? abort() : stream.on("close", abort)));
  return {
    method: headers[":method"] ?? "GET",
    path,
    search,
    headers,
    protocol: "2",
    peer,
    receivedAt: now,
    get signal() {
      return signal();
    },
    body: bodyReader(stream, headers["content-length"]),
    upgradable: false,
    goAway: () => stream.session?.goaway(constants.NGHTTP2_NO_ERROR),
  };
}

export function callFromHttp1(request: IncomingMessage, peer: Peer, now: number, upgradable = false): Call {
  const [path, search] = splitTarget(request.url ?? "/");
  const signal = lazySignal((abort) => (request.socket.destroyed ? abort() : request.socket.once("close", abort)));
  return {
    method: request.method ?? "GET",
    path,
    search,
    headers: request.headers,
    protocol: "1.1",
    peer,
    receivedAt: now,
    get signal() {
      return signal();
    },
    body: bodyReader(request, request.headers["content-length"]),
    upgradable,
    goAway: () => undefined,
  };
}

const drainBytes = 64 * 1024;

/** A Sink over any writable of Node's. */
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
    drained: () => (closed.signal.aborted || writable.writableLength < drainBytes ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    closed: closed.signal,
  };
}

type PlainHeaders = Record<string, string | string[] | number>;
const isBytes = (body: unknown): body is Uint8Array => body instanceof Uint8Array;

export async function replyOnHttp2(stream: ServerHttp2Stream, method: string, reply: Reply): Promise<void> {
  if (stream.destroyed || stream.closed) return;
  const headers = { ":status": reply.status, ...reply.headers } as PlainHeaders;
  const body = reply.body;
  if (body === undefined || isBytes(body)) {
    if (body) headers["content-length"] ??= body.length;
    if (!body || body.length === 0 || method === "HEAD") stream.respond(headers, { endStream: true });
    else {
      stream.respond(headers);
      stream.end(body);
    }
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.resume();
    return;
  }
  if ("takeOver" in body) throw new Error("an HTTP/2 stream cannot be taken over");
  stream.respond(headers);
  if ("stream" in body) await streamed(body.stream, stream);
  else writeParts(body, stream);
}

export async function replyOnHttp1(response: ServerResponse, method: string, reply: Reply): Promise<void> {
  if (response.destroyed) return;
  const headers = { ...reply.headers } as PlainHeaders;
  const body = reply.body;
  if (body === undefined || isBytes(body)) {
    headers["content-length"] ??= body?.length ?? 0;
    response.writeHead(reply.status, headers);
    response.end(method === "HEAD" ? undefined : body);
    return;
  }
  if ("takeOver" in body) throw new Error("the connection of a plain request cannot be taken over");
  if (!("stream" in body)) {
    const parts = body as readonly Uint8Array[];
    headers["content-length"] ??= parts.reduce((sum, part) => sum + part.length, 0);
    response.writeHead(reply.status, headers);
    writeParts(parts, response);
    return;
  }
  response.writeHead(reply.status, headers);
  response.flushHeaders();
  await streamed(body.stream, response);
}

function writeParts(parts: readonly Uint8Array[], out: Writable): void {
  out.cork();
  for (const part of parts) out.write(part);
  out.end();
  process.nextTick(() => out.uncork());
}

async function streamed(run: (sink: Sink) => Promise<void>, out: Writable): Promise<void> {
  try {
    await run(sinkOver(out));
  } finally {
    if (!out.destroyed) out.end();
  }
}
