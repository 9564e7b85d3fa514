// Streamed responses as messages over a WebSocket, for browsers, which cannot follow them otherwise.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { protocolsWithoutToken } from "#authn";
import { streamProtocols } from "#dialect";
import { type Call, type Reply, type Sink, discardReply, header, headerList, onceClosed } from "#http";

export interface WebSocketOptions {
  /**
   * Supported protocols in order of preference; the first one of the client's that is among them is used.
   * Undefined accepts any.
   */
  readonly protocols?: readonly string[];
  /**
   * Returns the messages for a chunk of the response; strings are sent as text. `protocol` is empty if the
   * client offered none.
   */
  messages(chunk: Uint8Array, protocol: string): Iterable<Uint8Array | string>;
  /** Send bytes, which are UTF-8, as text messages. */
  readonly bytesAreText?: boolean;
  /** The message sent first. */
  greeting?(protocol: string): Uint8Array | string;
  stream(sink: Sink): Promise<void>;
}

/** Maximum time for a client to close its side. */
const closeMilliseconds = 10_000;
/** A sink with less than this backlog is drained. */
const drainedBytes = 64 * 1024;
/** Maximum size of client messages, which are ignored. */
const maxMessageBytes = 64 * 1024;

export const isWebSocket = ({ upgradable, headers }: Call): boolean =>
  upgradable && header(headers, "upgrade")?.toLowerCase() === "websocket";

/** Accepts the connection and sends what `stream` writes. Messages from the client are ignored. */
export function webSocketReply(call: Call, options: WebSocketOptions): Reply {
  if (!isHandshake(call)) return notVersion13;
  const offered = protocolsWithoutToken(
    headerList(call.headers, "sec-websocket-protocol"),
    streamProtocols.bearerTokenPrefix,
  );
  const protocol = offered.find((name) => options.protocols?.includes(name) ?? true);
  if (offered.length > 0 && protocol === undefined)
    return refusal(
      403,
      `requested protocol(s) are not supported: [${offered.join(" ")}]; supports [${options.protocols?.join(" ")}]`,
    );
  return {
    status: 101,
    headers: {},
    body: { takeOver: (socket, head) => void serveSession({ call, socket, head, protocol, options }) },
  };
}

export const isHandshake = ({ method, headers }: Call): boolean =>
  method === "GET" &&
  header(headers, "sec-websocket-version") === "13" &&
  /^[+/0-9A-Za-z]{22}==$/.test(header(headers, "sec-websocket-key") ?? "");

const refusal = (status: number, text: string): Reply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: Buffer.from(`${text}\n`),
});

/** Reports the supported version, so that the client can retry with it. */
const refused = refusal(400, "the WebSocket handshake is not one of version 13");
const notVersion13: Reply = { ...refused, headers: { ...refused.headers, "sec-websocket-version": "13" } };

interface Session {
  readonly call: Call;
  readonly socket: Duplex;
  readonly head: Uint8Array;
  readonly protocol: string | undefined;
  readonly options: WebSocketOptions;
}

/** Completes the handshake with a client that offered this protocol, or none. */
export async function acceptWebSocket(
  { call, socket, head }: Pick<Session, "call" | "socket" | "head">,
  protocol: string,
  mostBytes: number,
): Promise<WebSocket> {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: mostBytes });
  // The library rejects some protocol names that are not tokens, but clients require them in the response.
  if (protocol) server.on("headers", (lines) => void lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  const request = {
    method: call.method,
    headers: { ...call.headers, "sec-websocket-protocol": undefined },
  } as unknown as IncomingMessage;
  const client = await new Promise<WebSocket>((resolve, reject) => {
    onceClosed(socket, () => reject(new Error("the client has gone")));
    server.handleUpgrade(request, socket, Buffer.from(head), resolve);
  });
  client.on("error", () => client.terminate());
  return client;
}

/** Closes the socket; a client that does not respond is disconnected. */
export function closeSocket(client: WebSocket): void {
  const timer = setTimeout(() => client.terminate(), closeMilliseconds);
  timer.unref();
  client.once("close", () => clearTimeout(timer));
  client.close(1000);
}

async function serveSession({ call, socket, head, protocol = "", options }: Session): Promise<void> {
  const accepting = acceptWebSocket({ call, socket, head }, protocol, maxMessageBytes);
  const client = await accepting.catch(() => undefined);
  if (!client) {
    socket.destroy();
    return await discardReply({ body: { stream: options.stream } });
  }
  try {
    const send = (message: Uint8Array | string): void =>
      client.send(message, { binary: typeof message !== "string" && !options.bytesAreText });
    if (options.greeting) send(options.greeting(protocol));
    await options.stream(
      sinkOf(client, socket, (chunk) => [...options.messages(chunk, protocol)].forEach(send)),
    );
    closeSocket(client);
  } catch {
    socket.destroy();
  }
}

function sinkOf(client: WebSocket, socket: Duplex, write: (chunk: Uint8Array) => void): Sink {
  const closed = new AbortController();
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  socket.on("drain", wake);
  client.once("close", () => {
    closed.abort(new Error("the client closed the connection"));
    wake();
  });
  return {
    write: (chunk) => {
      if (client.readyState === client.OPEN) write(chunk);
    },
    get backlogBytes() {
      return client.bufferedAmount;
    },
    drained: async () => {
      while (!closed.signal.aborted && client.bufferedAmount > drainedBytes)
        await new Promise<void>((resolve) => waiting.add(resolve));
    },
    closed: closed.signal,
  };
}

/**
 * Sends each watch event as a separate message: a line of text, or a frame without its length. Messages are
 * slices of the bytes shared by all watchers of a kind, so that slow ones cost no copies.
 */
export const eventMessages = (media: string): Pick<WebSocketOptions, "messages" | "bytesAreText"> =>
  media === "protobuf" ? { messages: framesOf } : { messages: linesOf, bytesAreText: true };

const newline = 0x0a;

function* linesOf(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < chunk.length;) {
    const end = chunk.indexOf(newline, at);
    if (end < 0) return;
    yield chunk.subarray(at, end + 1);
    at = end + 1;
  }
}

function* framesOf(chunk: Uint8Array): Iterable<Uint8Array> {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    yield bytes.subarray(at + 4, end);
    at = end;
  }
}
