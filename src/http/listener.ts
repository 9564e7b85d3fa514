// The secure port: one TLS server, HTTP/1.1 and HTTP/2 by what the client offers, upgrades on HTTP/1.1.
import { X509Certificate } from "node:crypto";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import type { Server as PlainServer } from "node:http";
import { type ServerHttp2Session, constants, performServerHandshake } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { type SecureContextOptions, type TLSSocket, type TlsOptions, createServer as createTlsServer } from "node:tls";
import type { Duplex } from "node:stream";
import type { Call, Peer, Reply } from "./call.ts";
import { callFromHttp1, callFromHttp2, replyOnHttp1, replyOnHttp2 } from "./exchange.ts";

// Imported in the ordinary way, this module brings a whole web client along: 15 MB that nobody here uses.
const { ServerResponse, createServer } = process.getBuiltinModule("node:http");

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions;
  /** Answers every call; must not throw. */
  readonly handle: (call: Call) => Promise<Reply>;
  readonly now: () => number;
  readonly maxStreamsPerConnection?: number;
  readonly reusePort?: boolean;
  /** How long a connection may take to send a request's headers. */
  readonly headersTimeoutMilliseconds?: number;
}

export interface Listener {
  readonly address: AddressInfo;
  /** New certificates for connections to come. */
  setSecureContext(context: SecureContextOptions): void;
  connections(): number;
  /** Stops listening and asks clients to leave; open exchanges go on. */
  drain(): void;
  /** Ends every connection now. */
  close(): Promise<void>;
}

const sessionMemoryMegabytes = 512;
const largestHeaderBytes = 64 * 1024;

export async function listen(options: ListenerOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let draining = false;
  const plain = http1Engine(options, () => draining);
  // It never listens itself, but only a listening server keeps track of its connections: their time limits, and which are idle.
  plain.emit("listening");
  const server = createTlsServer({ ...options.tls, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol !== "h2") {
      plain.emit("connection", socket);
      return;
    }
    const session = performServerHandshake(socket, {
      maxSessionMemory: sessionMemoryMegabytes,
      settings: {
        maxConcurrentStreams: options.maxStreamsPerConnection || 250,
        initialWindowSize: 1024 * 1024,
        maxHeaderListSize: largestHeaderBytes,
      },
    });
    sessions.add(session);
    serveHttp2(session, socket, options);
    session.on("close", () => sessions.delete(session));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, reusePort: options.reusePort ?? false }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    address: server.address() as AddressInfo,
    setSecureContext: (context) => server.setSecureContext(context),
    connections: () => sockets.size,
    drain: () => {
      draining = true;
      server.close();
      plain.closeIdleConnections();
      for (const session of sessions) session.close();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
        plain.closeAllConnections();
        plain.close();
      }),
  };
}

export interface PlainListenerOptions {
  /** A unix socket, or a host and port. */
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

/** HTTP/1.1 without TLS, for local sockets. A socket file left by a process that is gone is replaced. */
export async function listenPlain(options: PlainListenerOptions): Promise<PlainListener> {
  const server = http1Engine(options);
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

function serveHttp2(session: ServerHttp2Session, socket: TLSSocket, options: ListenerOptions): void {
  const peer = peerOf(socket);
  session.setLocalWindowSize(16 * 1024 * 1024);
  session.on("error", () => session.destroy());
  session.on("stream", (stream, headers, _flags, raw) => {
    stream.on("error", () => undefined);
    const call = callFromHttp2(stream, [headers, raw], peer, options.now());
    void options
      .handle(call)
      .then((reply) => replyOnHttp2(stream, call.method, reply))
      .catch(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  });
}

function http1Engine(options: Pick<ListenerOptions, "handle" | "now" | "headersTimeoutMilliseconds">, draining = (): boolean => false): PlainServer {
  const headersTimeout = options.headersTimeoutMilliseconds ?? 32_000;
  const connectionsCheckingInterval = Math.min(headersTimeout, 30_000);
  const server = createServer({ maxHeaderSize: largestHeaderBytes, headersTimeout, connectionsCheckingInterval, requestTimeout: 0, keepAliveTimeout: 180_000 });
  server.on("request", (request, response) => {
    response.on("error", () => undefined);
    const call = callFromHttp1(request, peerOf(request.socket as TLSSocket), options.now());
    void options
      .handle(call)
      .then((reply) => {
        if (draining()) response.shouldKeepAlive = false;
        return replyOnHttp1(response, call.method, reply);
      })
      .catch(() => response.destroy());
  });
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const call = callFromHttp1(request, peerOf(request.socket as TLSSocket), options.now(), true);
    void options
      .handle(call)
      .then((reply) => {
        if (reply.body && "takeOver" in reply.body) {
          reply.body.takeOver(socket, head);
          return;
        }
        const response = new ServerResponse(request);
        response.assignSocket(socket as Socket);
        response.shouldKeepAlive = false;
        response.on("finish", () => socket.end());
        return replyOnHttp1(response, call.method, reply);
      })
      .catch(() => socket.destroy());
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return;
    const status = clientFaults[error.code ?? ""] ?? "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${status}`);
  });
  return server;
}

const clientFaults: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

const peers = new WeakMap<Socket, Peer>();

function peerOf(socket: TLSSocket): Peer {
  const known = peers.get(socket);
  if (known) return known;
  let chain: readonly X509Certificate[] | undefined;
  const peer: Peer = { address: socket.remoteAddress ?? "", certificates: () => (chain ??= presentedChain(socket)) };
  peers.set(socket, peer);
  return peer;
}

function presentedChain(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  for (let item = socket.getPeerCertificate?.(true); item?.raw && !seen.has(item.fingerprint256); item = item.issuerCertificate) {
    seen.add(item.fingerprint256);
    chain.push(new X509Certificate(item.raw));
    if (!item.issuerCertificate || chain.length > 8) break;
  }
  return chain;
}
