// A scripted gRPC server for tests: real HTTP/2 over a real socket, with responses from functions.
import {
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  createSecureServer,
  createServer,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { FrameReader, framed } from "./frames.ts";

export interface ScriptedCall {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly stream: ServerHttp2Stream;
  /** The messages received from the client, as text. */
  readonly messages: AsyncIterable<string>;
  send(text: string): boolean;
  /** Ends the call with this status; the caller percent-encodes the message. */
  finish(status?: number, message?: string): void;
}

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly calls: ScriptedCall[];
  readonly sessions: ServerHttp2Session[];
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  readonly listen?: { readonly path: string } | { readonly port: number };
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** Starts the server; `answer` handles every call. */
export async function scriptedServer(
  answer: (call: ScriptedCall) => void | Promise<void>,
  { listen, tls }: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const server: Http2Server | Http2SecureServer = tls
    ? createSecureServer({
        ...tls,
        requestCert: tls.ca !== undefined,
        rejectUnauthorized: tls.ca !== undefined,
      })
    : createServer();
  const calls: ScriptedCall[] = [];
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session: ServerHttp2Session) => {
    session.on("error", () => {});
    sessions.push(session);
  });
  server.on("sessionError", () => {});
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    const call: ScriptedCall = {
      path: String(headers[":path"]),
      headers: headers as Record<string, string>,
      stream,
      messages: messagesOf(stream),
      send: (text) => {
        if (stream.destroyed || stream.closed) return false;
        if (!stream.headersSent)
          stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        return stream.write(framed(Buffer.from(text)));
      },
      finish: (status = 0, message) => {
        if (stream.destroyed || stream.closed) return;
        const trailers = {
          "grpc-status": String(status),
          ...(message !== undefined && { "grpc-message": message }),
        };
        if (!stream.headersSent) {
          stream.respond(
            { ":status": 200, "content-type": "application/grpc", ...trailers },
            { endStream: true },
          );
          return;
        }
        stream.once("wantTrailers", () => stream.sendTrailers(trailers));
        stream.end();
      },
    };
    calls.push(call);
    Promise.resolve(answer(call)).catch((error: unknown) => stream.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      listen && "path" in listen ? { path: listen.path } : { host: "127.0.0.1", port: listen?.port ?? 0 },
      resolve,
    );
  });
  const port = listen && "path" in listen ? 0 : (server.address() as AddressInfo).port;
  return {
    url:
      listen && "path" in listen ? `unix://${listen.path}` : `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    calls,
    sessions,
    close: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy();
        server.close(() => resolve());
      }),
  };
}

async function* messagesOf(stream: ServerHttp2Stream): AsyncGenerator<string> {
  const reader = new FrameReader(64 << 20);
  for await (const chunk of stream as AsyncIterable<Buffer>)
    for (const message of reader.push(chunk)) yield Buffer.from(message).toString();
}
