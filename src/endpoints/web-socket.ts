// Answers that stream, told as messages to clients that open a WebSocket: browsers have no other way to
// follow something.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { protocolsWithoutToken } from "#authn";
import { streamProtocols } from "#dialect";
import { type Call, type Reply, type Sink, header, headerList } from "#http";

export interface WebSocketOptions {
  /**
   * Names that the client may offer, in the order of liking; the client's first that is among them is spoken.
   * Undefined takes any.
   */
  readonly protocols?: readonly string[];
  /**
   * The messages that a piece of the answer makes; strings are sent as text. `protocol` is empty where none
   * was offered.
   */
  messages(chunk: Uint8Array, protocol: string): Iterable<Uint8Array | string>;
  /** Whether bytes are sent as text, too: they are UTF-8. */
  readonly bytesAreText?: boolean;
  /** Sent before anything else. */
  greeting?(protocol: string): Uint8Array | string;
  stream(sink: Sink): Promise<void>;
}

/** How long a client may take to say good-bye. */
const partingMilliseconds = 10_000;
/** A sink with less than this is drained. */
const drainedBytes = 64 * 1024;
/** Clients have nothing to say here. */
const largestMessage = 64 * 1024;

export const isWebSocket = ({ upgradable, headers }: Call): boolean =>
  upgradable && header(headers, "upgrade")?.toLowerCase() === "websocket";

/** Opens the socket and sends what `stream` writes. Messages from the client are not looked at. */
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
    body: { takeOver: (socket, head) => void talk({ call, socket, head, protocol, options }) },
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

/** What is spoken here is told, so that the client can try again with it. */
const refused = refusal(400, "the WebSocket handshake is not one of version 13");
const notVersion13: Reply = { ...refused, headers: { ...refused.headers, "sec-websocket-version": "13" } };

interface Talk {
  readonly call: Call;
  readonly socket: Duplex;
  readonly head: Uint8Array;
  readonly protocol: string | undefined;
  readonly options: WebSocketOptions;
}

/** Shakes hands with a client that offered this protocol, or none. */
export async function accepted(
  { call, socket, head }: Pick<Talk, "call" | "socket" | "head">,
  protocol: string,
  mostBytes: number,
): Promise<WebSocket> {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: mostBytes });
  // Some names are no tokens as the library wants them; clients want them back all the same.
  if (protocol) server.on("headers", (lines) => void lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  const request = {
    method: call.method,
    headers: { ...call.headers, "sec-websocket-protocol": undefined },
  } as unknown as IncomingMessage;
  const client = await new Promise<WebSocket>((resolve, reject) => {
    socket.once("close", () => reject(new Error("the client has gone")));
    server.handleUpgrade(request, socket, Buffer.from(head), resolve);
  });
  client.on("error", () => client.terminate());
  return client;
}

/** Says good-bye; a client that does not answer is cut off. */
export function part(client: WebSocket): void {
  const timer = setTimeout(() => client.terminate(), partingMilliseconds);
  timer.unref();
  client.once("close", () => clearTimeout(timer));
  client.close(1000);
}

async function talk({ call, socket, head, protocol = "", options }: Talk): Promise<void> {
  try {
    const client = await accepted({ call, socket, head }, protocol, largestMessage);
    const send = (message: Uint8Array | string): void =>
      client.send(message, { binary: typeof message !== "string" && !options.bytesAreText });
    if (options.greeting) send(options.greeting(protocol));
    await options.stream(
      sinkOf(client, socket, (chunk) => [...options.messages(chunk, protocol)].forEach(send)),
    );
    part(client);
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
 * Each event of a watch is a message of its own: a line of text, or a frame without its length. Messages are
 * parts of the bytes that all watchers of a kind share, so that slow ones cost no copies.
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
