// A gRPC server on a Unix socket, for the local services of a node agent: plugin registration, pod resources.
// Unknown methods are answered with UNIMPLEMENTED. It uses our HTTP/2 implementation, since clients that dial
// a socket by path send that path as the authority, which Node's HTTP/2 rejects.
import { chmod, lstat, mkdir, unlink } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname } from "node:path";
import { IncompleteBody, BodyTooLarge } from "../call.ts";
import { Connection } from "../http2/connection.ts";
import type { Stream } from "../http2/stream.ts";
import { FrameReader, framed } from "./frames.ts";
import { GrpcError, grpcCodes } from "./status.ts";

/** The codec of one procedure on the server side. */
export interface GrpcServerMethod<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string;
  decode(bytes: Uint8Array): Request;
  encode(response: Response): Uint8Array;
}

/** Properties of the call that a handler receives in addition to the request. */
export interface GrpcServerCall {
  /** Aborted when the client cancels, its deadline passes or the server closes. */
  readonly signal: AbortSignal;
  readonly metadata: Readonly<Record<string, string>>;
}

/** One procedure of a server, created by `unaryProcedure` or `streamingProcedure`. */
export interface GrpcProcedure {
  readonly path: string;
  /** Yields the encoded responses to an encoded request. */
  answer(request: Uint8Array, call: GrpcServerCall): AsyncIterable<Uint8Array>;
}

export interface GrpcServerOptions {
  readonly socketPath: string;
  /** Runs before the socket exists, once no other process serves it. */
  readonly prepare?: () => Promise<void>;
  readonly procedures: readonly GrpcProcedure[];
  readonly maxMessageBytes?: number;
  /** Mode of the socket file. */
  readonly mode?: number;
}

export interface GrpcServer {
  close(): Promise<void>;
}

const defaultMaxMessageBytes = 16 << 20;
const maxConnections = 64;
const maxStreams = 100;
const maxHeaderBytes = 16 << 10;
const headersMilliseconds = 32_000;
const idleMilliseconds = 15 * 60_000;
/** The next response waits while more than this number of bytes is unsent. */
const pendingBytes = 64 << 10;

/** Creates a procedure with one response; a thrown GrpcError becomes its status. */
export const unaryProcedure = <Request, Response>(
  method: GrpcServerMethod<Request, Response>,
  answer: (request: Request, call: GrpcServerCall) => Promise<Response> | Response,
): GrpcProcedure => ({
  path: method.path,
  answer: async function* (bytes, call) {
    yield method.encode(await answer(method.decode(bytes), call));
  },
});

/** Creates a procedure that streams responses. */
export const streamingProcedure = <Request, Response>(
  method: GrpcServerMethod<Request, Response>,
  answer: (request: Request, call: GrpcServerCall) => AsyncIterable<Response>,
): GrpcProcedure => ({
  path: method.path,
  answer: async function* (bytes, call) {
    for await (const response of answer(method.decode(bytes), call)) yield method.encode(response);
  },
});

/**
 * Listens on the socket. The stale socket of a dead process is replaced; one that another process serves is
 * an error.
 */
export async function grpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { socketPath, maxMessageBytes = defaultMaxMessageBytes } = options;
  const procedures = new Map(options.procedures.map((procedure) => [procedure.path, procedure]));
  const connections = new Set<Connection>();
  const stopping = new AbortController();
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o750 });
  await removeStaleSocket(socketPath);
  await options.prepare?.();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const connection: Connection = new Connection(socket, {
      maxStreams: maxStreams,
      maxHeaderBytes: maxHeaderBytes,
      maxTargetBytes: maxHeaderBytes,
      maxHeaderListBytes: maxHeaderBytes,
      headersTimeoutMilliseconds: headersMilliseconds,
      idleTimeoutMilliseconds: idleMilliseconds,
      serve: (stream) =>
        serveCall(stream, procedures.get(stream.head.target), {
          maxMessageBytes,
          stopping: stopping.signal,
        }),
      begin: (exchange) => exchange(),
      onClose: () => connections.delete(connection),
      onInternalError: () => undefined,
    });
    connections.add(connection);
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path: socketPath }, resolve);
  });
  await chmod(socketPath, options.mode ?? 0o600);
  return {
    close: async () => {
      stopping.abort(new GrpcError("UNAVAILABLE", "the server is closing"));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} exists and is not a socket`);
  if (await isServed(path)) throw new Error(`${path} is served by another process`);
  await unlink(path);
}

const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

async function serveCall(
  stream: Stream,
  procedure: GrpcProcedure | undefined,
  { maxMessageBytes, stopping }: { readonly maxMessageBytes: number; readonly stopping: AbortSignal },
): Promise<void> {
  const { target, headers, tooLarge } = stream.head;
  if (tooLarge) return stream.respond(431, {}, [], true);
  if (!String(headers["content-type"]).startsWith(responseHeaders["content-type"]))
    return stream.respond(415, {}, [], true);
  const closed = new AbortController();
  stream.onClose(() => closed.abort(new GrpcError("CANCELLED", "the client ended the call")));
  const milliseconds = timeoutMilliseconds(headers["grpc-timeout"]);
  const timer =
    milliseconds === undefined
      ? undefined
      : setTimeout(
          () => closed.abort(new GrpcError("DEADLINE_EXCEEDED", "the client's deadline passed")),
          milliseconds,
        );
  const signal = AbortSignal.any([closed.signal, stopping]);
  const onAbort = (): void => finish(stream, signal.reason as GrpcError);
  try {
    if (!procedure) throw new GrpcError("UNIMPLEMENTED", `unknown method ${target}`);
    const request = await readSingleMessage(stream, maxMessageBytes);
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    const metadata = headers as Readonly<Record<string, string>>;
    for await (const response of procedure.answer(request, { signal, metadata })) {
      if (signal.aborted) return;
      await send(stream, response);
    }
    if (!signal.aborted) finish(stream, undefined);
  } catch (error) {
    finish(stream, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Allowance for the frame header: the request body is one message and nothing else. */
const frameHeaderAllowance = 1024;

async function readSingleMessage(stream: Stream, maxMessageBytes: number): Promise<Uint8Array> {
  const body = await stream.body(maxMessageBytes + frameHeaderAllowance).catch((error: unknown) => {
    if (error instanceof BodyTooLarge)
      throw new GrpcError(
        "RESOURCE_EXHAUSTED",
        `the client sent a message of more than ${maxMessageBytes} bytes, which is the most that is taken`,
      );
    if (error instanceof IncompleteBody) throw new GrpcError("CANCELLED", "the client ended the call");
    throw error;
  });
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const [request, ...more] = new FrameReader(maxMessageBytes, "client").push(bytes);
  if (more.length > 0) throw new GrpcError("INTERNAL", "the client sent more than one message");
  if (!request) throw new GrpcError("INTERNAL", "the client sent no message");
  return request;
}

const responseHeaders = { "content-type": "application/grpc" } as const;

async function send(stream: Stream, message: Uint8Array): Promise<void> {
  if (stream.responded) stream.write(framed(message));
  else stream.respond(200, responseHeaders, [framed(message)], false);
  await stream.drained(pendingBytes);
}

function finish(stream: Stream, error: unknown): void {
  const code = error === undefined ? "OK" : error instanceof GrpcError ? error.code : "UNKNOWN";
  const detail = error instanceof GrpcError ? error.detail : (error as Error | undefined)?.message;
  const trailers = {
    "grpc-status": String(grpcCodes.indexOf(code)),
    ...(detail !== undefined && { "grpc-message": percentEncoded(detail) }),
  };
  if (stream.responded) stream.end(trailers);
  else stream.respond(200, { ...responseHeaders, ...trailers }, [], true);
}

/** Percent-encodes all bytes except printable ASCII other than the percent sign. */
const percentEncoded = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCodePoint(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");

const unitMilliseconds: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};
const longestTimer = 2 ** 31 - 1;

function timeoutMilliseconds(text: string | readonly string[] | undefined): number | undefined {
  const found = /^(\d{1,8})([HMSmun])$/.exec(typeof text === "string" ? text : "");
  if (!found) return undefined;
  const milliseconds = Math.ceil(Number(found[1]) * unitMilliseconds[found[2]!]!);
  return milliseconds > longestTimer ? undefined : milliseconds;
}
