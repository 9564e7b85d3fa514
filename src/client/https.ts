// Requests over HTTPS: HTTP/2 connections shared by all requests, opened on demand and reopened when they
// break.
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import { nodeHttp2 } from "#base";
import { checkServerIdentity, trust } from "#http";
import { type ClientRequest, type ClientResponse, type Transport, Unreachable } from "./transport.ts";

/** PEM texts. */
export interface ConnectionSecrets {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface HttpsOptions extends ConnectionSecrets {
  /** `https://host:port` */
  readonly server: string;
  /**
   * Called for every new connection, so that rotated files are used; takes precedence over the PEM texts
   * given here.
   */
  readonly secrets?: (() => ConnectionSecrets) | undefined;
  readonly insecure?: boolean;
  readonly serverName?: string | undefined;
  /** Called for every request, so that a rotated token is used. */
  readonly token?: (() => string | undefined) | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly userAgent?: string;
}

export interface HttpsTransport extends Transport {
  /** Makes new requests use new connections; active ones finish on their connection. */
  renew(): void;
}

const pingEveryMilliseconds = 30_000;
const windowBytes = 4 * 1024 * 1024;
/** Assumed limit until the server's settings are received. */
const defaultMaxStreams = 100;

interface Connection {
  readonly session: ClientHttp2Session;
  /** The client certificate that was presented. */
  readonly certificate: string | undefined;
  streams: number;
}

export function https(options: HttpsOptions): HttpsTransport {
  const connections = new Set<Connection>();
  /** Includes retired connections, until their active requests have ended. */
  const open = new Set<ClientHttp2Session>();
  const retire = (connection: Connection): void => {
    connections.delete(connection);
    connection.session.close();
  };
  const availableConnection = (): Connection => {
    for (const connection of connections) {
      const { session } = connection;
      if (session.closed || session.destroyed) connections.delete(connection);
      else if (connection.streams < maxStreams(session)) return connection;
    }
    const secrets = options.secrets?.() ?? options;
    const { certificate } = secrets;
    const made: Connection = { session: connected(options, secrets), certificate, streams: 0 };
    open.add(made.session);
    made.session.on("close", () => {
      connections.delete(made);
      open.delete(made.session);
    });
    made.session.on("goaway", () => retire(made));
    connections.add(made);
    return made;
  };
  return {
    send: async (request) => {
      const connection = availableConnection();
      const response = await exchange(connection, request, options);
      // The certificate may have expired since the connection was opened, and been renewed.
      if (
        response.status === 401 &&
        options.secrets &&
        options.secrets().certificate !== connection.certificate
      )
        retire(connection);
      return response;
    },
    renew: () => connections.forEach(retire),
    close: () => {
      for (const session of open) session.destroy();
      connections.clear();
    },
  };
}

/**
 * Returns the stream limit of a session. A watch occupies its stream for minutes, so requests beyond the
 * limit use another connection instead of waiting.
 */
function maxStreams(session: ClientHttp2Session): number {
  if (session.connecting) return defaultMaxStreams;
  return session.remoteSettings?.maxConcurrentStreams ?? defaultMaxStreams;
}

function connected(options: HttpsOptions, { ca, certificate, key }: ConnectionSecrets): ClientHttp2Session {
  const session = nodeHttp2().connect(options.server, {
    ...(ca !== undefined && trust(ca)),
    ...(certificate !== undefined && { cert: certificate, key }),
    ...(options.serverName !== undefined && { servername: options.serverName }),
    rejectUnauthorized: !options.insecure,
    checkServerIdentity,
    settings: { initialWindowSize: windowBytes },
    maxSessionMemory: 256,
  });
  // Requests are notified through their own streams.
  session.on("error", () => undefined);
  session.once("connect", () => session.setLocalWindowSize(4 * windowBytes));
  let silent: NodeJS.Timeout | undefined;
  const ping = setInterval(() => {
    if (session.destroyed || session.connecting || silent) return;
    silent = setTimeout(
      () => session.destroy(new Unreachable(`${options.server} does not answer any more`)),
      pingEveryMilliseconds / 2,
    ).unref();
    session.ping(() => {
      clearTimeout(silent);
      silent = undefined;
    });
  }, pingEveryMilliseconds).unref();
  session.on("close", () => {
    clearInterval(ping);
    clearTimeout(silent);
  });
  return session;
}

function exchange(
  connection: Connection,
  request: ClientRequest,
  options: HttpsOptions,
): Promise<ClientResponse> {
  const { signal, timeoutMilliseconds, body } = request;
  if (signal?.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    let stream: ClientHttp2Stream;
    try {
      stream = connection.session.request(headersOf(request, options), { endStream: body === undefined });
    } catch (error) {
      reject(new Unreachable(`${options.server}: ${(error as Error).message}`));
      return;
    }
    connection.streams++;
    let cancelReason: Error | undefined;
    const cancel = (reason: Error): void => {
      cancelReason ??= reason;
      reject(cancelReason);
      stream.close(nodeHttp2().constants.NGHTTP2_CANCEL);
    };
    const abort = (): void => cancel(signal!.reason as Error);
    const onTimeout = (): void =>
      cancel(new Unreachable(`${options.server} did not answer within ${timeoutMilliseconds} ms`));
    const timer = timeoutMilliseconds === undefined ? undefined : setTimeout(onTimeout, timeoutMilliseconds);
    signal?.addEventListener("abort", abort, { once: true });
    stream.on("response", (incoming) => {
      clearTimeout(timer);
      resolve({
        status: Number(incoming[":status"]),
        headers: incoming,
        chunks: chunksOf(stream, options.server, () => cancelReason),
        whole: () => wholeOf(stream, options.server, () => cancelReason),
      });
    });
    stream.on("error", (error) => reject(new Unreachable(`${options.server}: ${error.message}`)));
    stream.on("close", () => {
      connection.streams--;
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      reject(cancelReason ?? new Unreachable(`${options.server} closed the connection`));
    });
    if (body !== undefined) stream.end(body);
  });
}

function headersOf(request: ClientRequest, options: HttpsOptions): OutgoingHttpHeaders {
  const token = options.token?.();
  return {
    ":method": request.method,
    ":path": request.path,
    "user-agent": options.userAgent ?? "orch-client",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...options.headers,
    ...request.headers,
  };
}

/** Reads a whole response through stream events: an iterator costs as much as the rest of a small request. */
function wholeOf(
  stream: ClientHttp2Stream,
  server: string,
  cancelled: () => Error | undefined,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const failed = (why: string): void =>
      reject(cancelled() ?? new Unreachable(`${server}: the answer broke off (${why})`));
    if (stream.destroyed) return failed("closed");
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error) => failed(error.message));
    // Node also emits `end` for a stream that was reset or whose connection was closed.
    stream.on("end", () =>
      stream.aborted || stream.rstCode
        ? failed("reset")
        : resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    );
    stream.on("close", () => failed("closed"));
  });
}

/**
 * Yields the chunks of a response. An interrupted response is an error: half a list must not look complete.
 */
async function* chunksOf(
  stream: ClientHttp2Stream,
  server: string,
  cancelled: () => Error | undefined,
): AsyncGenerator<Uint8Array> {
  let ended = false;
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
    // Node also ends a stream normally that was reset or whose connection was closed.
    if (stream.aborted || stream.rstCode) throw new Error("reset");
    ended = true;
  } catch (error) {
    throw cancelled() ?? new Unreachable(`${server}: the answer broke off (${(error as Error).message})`);
  } finally {
    if (!ended && !stream.destroyed) stream.close(nodeHttp2().constants.NGHTTP2_CANCEL);
  }
}
