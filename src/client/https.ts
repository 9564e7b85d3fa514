// Requests over HTTPS: one HTTP/2 connection, shared by all and opened again when it breaks.
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect, constants } from "node:http2";
import type { ClientRequest, ClientResponse, Transport } from "./transport.ts";

export interface HttpsOptions {
  /** `https://host:port` */
  readonly server: string;
  /** PEM texts. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly insecure?: boolean;
  readonly serverName?: string | undefined;
  /** Asked for every request, so that a rotated token is taken up. */
  readonly token?: (() => string | undefined) | undefined;
  readonly userAgent?: string;
}

/** The connection could not be made or broke before an answer began. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

const pingEveryMilliseconds = 30_000;

export function https(options: HttpsOptions): Transport {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session;
    const made = connect(options.server, {
      ...(options.ca !== undefined && { ca: options.ca }),
      ...(options.certificate !== undefined && { cert: options.certificate, key: options.key }),
      ...(options.serverName !== undefined && { servername: options.serverName }),
      rejectUnauthorized: !options.insecure,
      settings: { initialWindowSize: 4 * 1024 * 1024 },
      maxSessionMemory: 256,
    });
    made.on("error", () => undefined);
    const ping = setInterval(() => {
      if (made.destroyed) return;
      const silent = setTimeout(() => made.destroy(), pingEveryMilliseconds / 2);
      made.ping(() => clearTimeout(silent));
    }, pingEveryMilliseconds);
    ping.unref();
    made.on("close", () => {
      clearInterval(ping);
      if (session === made) session = undefined;
    });
    made.on("goaway", () => {
      if (session === made) session = undefined;
      made.close();
    });
    session = made;
    return made;
  };
  return {
    send: (request) => exchange(open(), request, options),
    close: () => session?.close(),
  };
}

function exchange(session: ClientHttp2Session, request: ClientRequest, options: HttpsOptions): Promise<ClientResponse> {
  const token = options.token?.();
  const headers = {
    ":method": request.method,
    ":path": request.path,
    "user-agent": options.userAgent ?? "orch-client",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...request.headers,
  };
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: request.body === undefined });
    let answered = false;
    const fail = (error: Error): void => {
      if (!answered) reject(error);
    };
    const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
    const timer = request.timeoutMilliseconds === undefined ? undefined : setTimeout(() => {
      fail(new Unreachable(`${options.server} did not answer within ${request.timeoutMilliseconds} ms`));
      cancel();
    }, request.timeoutMilliseconds);
    if (request.signal?.aborted) cancel();
    request.signal?.addEventListener("abort", cancel, { once: true });
    stream.on("response", (incoming) => {
      answered = true;
      clearTimeout(timer);
      resolve({ status: Number(incoming[":status"]), headers: incoming as IncomingHttpHeaders, chunks: chunksOf(stream) });
    });
    stream.on("error", (error) => fail(new Unreachable(`${options.server}: ${error.message}`)));
    stream.on("close", () => {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", cancel);
      fail(request.signal?.aborted ? (request.signal.reason as Error) : new Unreachable(`${options.server} closed the connection`));
    });
    if (request.body !== undefined) stream.end(request.body);
  });
}

async function* chunksOf(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    if (!stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR) throw error;
    if (stream.rstCode !== constants.NGHTTP2_CANCEL && stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Unreachable(`the stream broke: ${(error as Error).message}`);
  } finally {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_CANCEL);
  }
}
