// For tests of the listener: a secure port on the loopback interface, and clients of both protocols.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { type TLSSocket, connect as connectTls } from "node:tls";
import type { TestContext } from "node:test";
import { type Identity, type TestAuthority, testAuthority } from "#kit";
import type { Call, Reply } from "./call.ts";
import { type Listener, type ListenerOptions, listen } from "./listener.ts";

export type Handle = (call: Call) => Promise<Reply>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly trailers: IncomingHttpHeaders;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

export interface Secured {
  readonly listener: Listener;
  readonly port: number;
  readonly ca: string;
  /** A TLS connection for raw HTTP/1.1. */
  raw(options?: { readonly client?: Identity }): Promise<TLSSocket>;
  http2(options?: { readonly client?: Identity }): Promise<ClientHttp2Session>;
}

let authority:
  | Promise<{ readonly authority: TestAuthority; readonly server: Identity; readonly client: Identity }>
  | undefined;

/** A CA with a server and a client identity, created once per test file. */
export const identities = (): NonNullable<typeof authority> =>
  (authority ??= (async () => {
    const made = await testAuthority();
    const [server, client] = await Promise.all([
      made.issue("/CN=server", { ips: ["127.0.0.1"] }),
      made.issue("/O=testers/CN=client"),
    ]);
    return { authority: made, server, client };
  })());

/** Listens until the test ends. */
export async function secured(
  t: TestContext,
  handle: Handle,
  more: Partial<ListenerOptions> = {},
): Promise<Secured> {
  const { authority: by, server } = await identities();
  const tls = { ...server, ca: by.ca, requestCert: true, rejectUnauthorized: false };
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls,
    handle,
    now: () => Date.now(),
    onInternalError: (error) => assert.ifError(error),
    ...more,
  });
  t.after(() => listener.close());
  const { port } = listener.address;
  const to = { host: "127.0.0.1", port, ca: by.ca };
  return {
    listener,
    port,
    ca: by.ca,
    raw: async ({ client } = {}) => {
      const socket = connectTls({ ...to, ...client, ALPNProtocols: ["http/1.1"] });
      socket.on("error", () => undefined);
      t.after(() => socket.destroy());
      await once(socket, "secureConnect");
      return socket;
    },
    http2: async ({ client } = {}) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, {
        ca: by.ca,
        ...client,
        maxSendHeaderBlockLength: 4 * 1024 * 1024,
      });
      session.on("error", () => undefined);
      t.after(() => session.destroy());
      await once(session, "connect");
      return session;
    },
  };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream)).toString();
}

/** Sends one request over HTTP/1.1 on a dedicated connection. */
export async function askHttp1(
  { port, ca }: Pick<Secured, "port" | "ca">,
  { body, ...asking }: Asking = {},
  more: RequestOptions = {},
): Promise<Answer> {
  const sent = request({ host: "127.0.0.1", port, ca, agent: false, ...asking, ...more });
  sent.end(body);
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode, headers } = reply;
  return { status: statusCode!, headers, text: await textOf(reply), trailers: reply.trailers };
}

/** Opens an HTTP/2 stream without ending it. */
export const openHttp2 = (
  session: ClientHttp2Session,
  { method = "GET", path = "/", headers = {} }: Asking = {},
  endStream = false,
): ClientHttp2Stream => {
  const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream });
  stream.on("error", () => undefined);
  return stream;
};

export async function askHttp2(session: ClientHttp2Session, asking: Asking = {}): Promise<Answer> {
  const stream = openHttp2(session, asking, asking.body === undefined && asking.method === undefined);
  const answered = once(stream, "response") as Promise<[IncomingHttpHeaders & { ":status"?: number }]>;
  stream.end(asking.body);
  let trailers: IncomingHttpHeaders = {};
  stream.once("trailers", (received: IncomingHttpHeaders) => (trailers = received));
  const [headers] = await answered;
  return { status: headers[":status"]!, headers, text: await textOf(stream), trailers };
}

/** Sends a request over either protocol. */
export async function ask(server: Secured, protocol: Call["protocol"], asking: Asking = {}): Promise<Answer> {
  if (protocol === "1.1") return await askHttp1(server, asking);
  const session = await server.http2();
  try {
    return await askHttp2(session, asking);
  } finally {
    session.close();
  }
}

/** Reads everything until the peer closes the connection. */
export async function untilEnd(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(socket, "close");
  return text;
}
