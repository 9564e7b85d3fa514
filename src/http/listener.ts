// The secure port: one TLS server for HTTP/1.1 and HTTP/2, selected by ALPN, with upgrades on HTTP/1.1.
import { chmodSync, lstatSync, rmSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { type SecureContextOptions, type TlsOptions, createServer as createTlsServer } from "node:tls";
import type { Call, Peer, Reply } from "./call.ts";
import { callFromHttp2, replyOnHttp2 } from "./exchange.ts";
import { type ConnectionLimits, connectionLimits, openFileLimit, rateLimited } from "./connection-limits.ts";
import { UnfinishedHandshakes } from "./handshakes.ts";
import {
  announcedHeaderBytes,
  defaultMaxStreams,
  headersMilliseconds,
  http1Engine,
  maxHeaderBytes,
  maxTargetBytes,
} from "./http1.ts";
import { Connection } from "./http2/connection.ts";
import type { Stream } from "./http2/stream.ts";
import { nodeHttp2Session } from "./node-http2-session.ts";
import { peerOf } from "./peer.ts";
import { AdmissionThrottle } from "./admission-throttle.ts";

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions;
  /** Handles every call; must not throw. */
  readonly handle: (call: Call) => Promise<Reply>;
  readonly now: () => number;
  readonly maxStreamsPerConnection?: number;
  /** `node` serves HTTP/2 with node:http2, at three times the cost; the default is `builtin`. */
  readonly http2Implementation?: Http2Implementation;
  /** Called with internal errors that end a connection. */
  readonly onInternalError: (error: Error) => void;
  readonly reusePort?: boolean;
  /** Maximum time to receive the headers of a request. */
  readonly headersTimeoutMilliseconds?: number;
  readonly stalledMilliseconds?: number;
  readonly handshakeTimeoutMilliseconds?: number;
  /** By default derived from the process's limit on open files. */
  readonly limits?: ConnectionLimits;
  /** Reports refused connections, at most every ten seconds per reason. */
  readonly onRefused?: (refusal: ConnectionRefusal) => void;
  /** Called for every failed TLS handshake. */
  readonly onHandshakeError?: () => void;
}

export type Http2Implementation = "builtin" | "node";

export interface ConnectionRefusal {
  readonly reason: "too many connections" | "too many unfinished TLS handshakes" | "accepting failed";
  /** Number of refusals since the last report of this reason. */
  readonly count: number;
  /** Number of open connections. */
  readonly connections: number;
  readonly error?: string;
}

export interface Listener {
  readonly address: AddressInfo;
  /** Sets the certificates of future connections; other TLS options are kept. */
  setSecureContext(context: SecureContextOptions): void;
  connections(): number;
  /** Stops listening and sends GOAWAY to clients; active exchanges continue. */
  drain(): void;
  /** Closes every connection immediately. */
  close(): Promise<void>;
}

const idleMilliseconds = 90_000;
/** The TLS handshake timeout of kube-apiserver, 10 s. */
const handshakeMilliseconds = 10_000;
const keepAliveMilliseconds = 180_000;

export async function listen(options: ListenerOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const connections = new Set<Pick<Connection, "goAway" | "destroy">>();
  const throttle = new AdmissionThrottle();
  let draining = false;
  const plain = http1Engine(options, throttle, () => draining);
  // This server does not listen itself, but only a listening server tracks its connections, for timeouts and
  // idle connections.
  plain.emit("listening");
  const refused = (reason: ConnectionRefusal["reason"]): ((error?: unknown) => void) =>
    rateLimited(options.now, (count, error) =>
      options.onRefused?.({
        reason,
        count,
        connections: sockets.size,
        ...(error instanceof Error && { error: error.message }),
      }),
    );
  const limits = options.limits ?? connectionLimits(openFileLimit());
  const handshakes = new UnfinishedHandshakes(
    limits.unfinishedHandshakes,
    refused("too many unfinished TLS handshakes"),
  );
  const tls = {
    ...options.tls,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: options.handshakeTimeoutMilliseconds ?? handshakeMilliseconds,
  };
  const server = createTlsServer(tls, (socket) => {
    handshakes.finished(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMilliseconds);
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol !== "h2") {
      plain.emit("connection", socket);
      return;
    }
    const peer = peerOf(socket);
    if (options.http2Implementation === "node") {
      const session = nodeHttp2Session(socket, {
        ...options,
        peer,
        idleTimeoutMilliseconds: idleMilliseconds,
        begin: (exchange, method, path) => throttle.begin(exchange, method, path),
        onClose: () => connections.delete(session),
      });
      connections.add(session);
      return;
    }
    const connection: Connection = new Connection(socket, {
      maxStreams: options.maxStreamsPerConnection || defaultMaxStreams,
      maxHeaderBytes: maxHeaderBytes,
      maxTargetBytes: maxTargetBytes,
      maxHeaderListBytes: announcedHeaderBytes,
      headersTimeoutMilliseconds: options.headersTimeoutMilliseconds ?? headersMilliseconds,
      idleTimeoutMilliseconds: idleMilliseconds,
      serve: (stream) => serveStream(stream, peer, options),
      begin: (exchange, method, path) => throttle.begin(exchange, method, path),
      onClose: () => connections.delete(connection),
      onInternalError: options.onInternalError,
    });
    connections.add(connection);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    handshakes.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("tlsClientError", (_error, socket) => {
    options.onHandshakeError?.();
    socket.destroy();
  });
  if (limits.connections < Infinity) server.maxConnections = limits.connections;
  const dropped = refused("too many connections");
  server.on("drop", () => dropped());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, reusePort: options.reusePort ?? false }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", refused("accepting failed"));
  return {
    address: server.address() as AddressInfo,
    setSecureContext: (context) => server.setSecureContext({ ...options.tls, ...context }),
    connections: () => sockets.size,
    drain: () => {
      draining = true;
      server.close();
      plain.closeIdleConnections();
      for (const connection of connections) connection.goAway();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.destroy();
        for (const socket of sockets) socket.destroy();
        plain.closeAllConnections();
        plain.close();
      }),
  };
}

export interface PlainListenerOptions {
  /** A Unix socket path, or a host and port. */
  readonly path?: string;
  readonly host?: string;
  readonly port?: number;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly now: () => number;
}

export interface PlainListener {
  readonly address: AddressInfo | string;
  close(): Promise<void>;
}

/** Serves HTTP/1.1 without TLS, for local sockets. The stale socket file of an exited process is replaced. */
export async function listenPlain(options: PlainListenerOptions): Promise<PlainListener> {
  const server = http1Engine(options, new AdmissionThrottle());
  const { path, host, port } = options;
  if (path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path === undefined ? { host, port } : { path }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  if (path !== undefined) chmodSync(path, 0o600);
  return {
    address: server.address()!,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serveStream(stream: Stream, peer: Peer, options: ListenerOptions): Promise<void> {
  const now = options.now();
  try {
    if (stream.head.tooLarge) return await replyOnHttp2(stream, "GET", headersTooLarge, dateLine());
    const call = callFromHttp2(stream, peer, now);
    await replyOnHttp2(stream, call.method, await options.handle(call), dateLine());
  } catch {
    stream.reset();
  }
}

const headersTooLarge: Reply = {
  status: 431,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: Buffer.from("Request Header Fields Too Large"),
};

let cachedDate = { second: 0, line: "" };

/** The Date header of responses, formatted once per second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== cachedDate.second) cachedDate = { second, line: new Date(second * 1000).toUTCString() };
  return cachedDate.line;
}
