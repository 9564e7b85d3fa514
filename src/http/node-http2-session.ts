// HTTP/2 with node:http2 instead of our own implementation, for `--http2-implementation=node`: the same calls
// and replies, at a higher cost.
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { nodeHttp2 } from "#base";
import type { Call, HeaderValues, Peer, Reply } from "./call.ts";
import { discardReply } from "./discard-reply.ts";
import {
  isBodiless,
  separateRepeated,
  lazySignal,
  onceClosed,
  sinkOver,
  splitTarget,
  trailersOf,
} from "./exchange.ts";
import { maxFrameBytes } from "./http2/frames.ts";
import { streamWindow } from "./http2/stream.ts";
import { NodeBody } from "./node-body.ts";
import { announcedHeaderBytes, defaultMaxStreams, maxHeaderBytes } from "./http1.ts";

export interface NodeHttp2Options {
  readonly peer: Peer;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly now: () => number;
  readonly maxStreamsPerConnection?: number;
  readonly idleTimeoutMilliseconds: number;
  /** Starts an exchange, immediately or in a later turn of the event loop. */
  readonly begin: (exchange: () => void, method: string, path: string) => void;
  readonly onClose: () => void;
}

export interface Http2Session {
  /** Sends GOAWAY; open streams are served. */
  goAway(): void;
  /** Closes the connection immediately. */
  destroy(): void;
}

export function nodeHttp2Session(socket: Socket, options: NodeHttp2Options): Http2Session {
  const session = nodeHttp2().performServerHandshake(socket, {
    settings: {
      maxConcurrentStreams: options.maxStreamsPerConnection || defaultMaxStreams,
      initialWindowSize: streamWindow,
      maxFrameSize: maxFrameBytes,
      maxHeaderListSize: announcedHeaderBytes,
    },
    maxSendHeaderBlockLength: maxHeaderBytes,
  });
  session.on("error", () => session.destroy());
  session.on("close", options.onClose);
  session.setTimeout(options.idleTimeoutMilliseconds, () => session.close());
  session.on("stream", (stream, headers, _flags, rawHeaders: readonly string[]) => {
    stream.on("error", () => undefined);
    const exchange: Exchange = { session, stream, replied: false };
    const call = callOf(exchange, separateRepeated(headers, rawHeaders), options);
    options.begin(() => void serve(exchange, call, options), call.method, call.path);
  });
  return { goAway: () => session.close(), destroy: () => session.destroy() };
}

interface Exchange {
  readonly session: ServerHttp2Session;
  readonly stream: ServerHttp2Stream;
  /** The whole reply has been passed to the stream. */
  replied: boolean;
}

async function serve(exchange: Exchange, call: Call, { handle }: NodeHttp2Options): Promise<void> {
  try {
    await reply(exchange.stream, call.method, await handle(call));
    exchange.replied = true;
  } catch {
    exchange.stream.close(nodeHttp2().constants.NGHTTP2_INTERNAL_ERROR);
  }
}

function callOf(exchange: Exchange, headers: HeaderValues, { peer, now }: NodeHttp2Options): Call {
  const { session, stream } = exchange;
  const { ":method": method, ":path": target, ":scheme": _scheme, ...rest } = headers;
  const [path, search] = splitTarget(String(target ?? "/"));
  const signal = lazySignal((abort) => {
    const closed = (): void => {
      if (!exchange.replied) abort();
    };
    if (stream.closed) closed();
    else stream.once("close", closed);
  });
  const sendContinue =
    rest["expect"] === "100-continue"
      ? (): void => {
          if (!stream.closed && !stream.headersSent) stream.additionalHeaders({ ":status": 100 });
        }
      : undefined;
  const body = new NodeBody(stream, rest["content-length"], sendContinue);
  return {
    method: String(method ?? "GET"),
    path,
    search,
    headers: rest,
    protocol: "2",
    peer,
    receivedAt: now(),
    get signal() {
      return signal();
    },
    onFinished: (listener) => onceClosed(stream, listener),
    sentBytes: () => session.socket.bytesWritten - session.socket.writableLength,
    abort: () => stream.close(nodeHttp2().constants.NGHTTP2_ENHANCE_YOUR_CALM),
    body: (limitBytes) => body.read(limitBytes),
    bodyBuffered: () => body.buffered(),
    upgradable: false,
    goAway: () => session.close(),
  };
}

async function reply(stream: ServerHttp2Stream, method: string, given: Reply): Promise<void> {
  const { status, headers, body, beforeSending } = given;
  if (stream.destroyed) return await discardReply(given);
  beforeSending?.();
  if (body && "takeOver" in body) throw new Error("an HTTP/2 stream cannot be taken over");
  const head: Record<string, string | number | string[]> = { ":status": status };
  for (const [name, value] of Object.entries(headers))
    if (!connectionFields.has(name) && !(name === "content-length" && isBodiless(status)))
      head[name] = typeof value === "string" ? value : [...value];
  if (body && "stream" in body) {
    stream.respond(head, { endStream: method === "HEAD", waitForTrailers: given.trailers !== undefined });
    if (method === "HEAD") return await discardReply(given);
    if (given.trailers) stream.once("wantTrailers", () => stream.sendTrailers({ ...trailersOf(given) }));
    await body.stream(sinkOver(stream));
    stream.end();
    return;
  }
  const parts = body === undefined ? [] : body instanceof Uint8Array ? [body] : body;
  if (body && !isBodiless(status))
    head["content-length"] ??= parts.reduce((sum, part) => sum + part.length, 0);
  const empty = method === "HEAD" || parts.length === 0;
  stream.respond(head, { endStream: empty });
  if (empty) return;
  stream.cork();
  for (const part of parts) stream.write(part);
  stream.end();
  stream.uncork();
}

/** Fields specific to HTTP/1.1 connections, which node:http2 refuses to send. */
const connectionFields = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);
