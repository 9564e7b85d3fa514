// The newest WebSocket protocols, which runtimes do not support: translates their messages to SPDY streams
// and back.
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { PodAttachOptions } from "#api";
import { protocolsWithoutToken } from "#authn";
import { type Dialect, runtimeProtocols, streamProtocols } from "#dialect";
import { type Call, type Reply, headerList } from "#http";
import { forwarded } from "./headers.ts";
import { type SpdySession, type SpdyStream, spdySession } from "./spdy.ts";
import { type Head, type TunnelTarget, idleMilliseconds, upgraded } from "./tunnel.ts";
import { acceptWebSocket, isHandshake, isWebSocket, closeSocket } from "#endpoints";

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** A message of this channel closes the channel it names. */
const closing = 255;
const [newestChannel, channelOfRuntimes] = streamProtocols.channel;
const maxMessageBytes = 32 * 1024 * 1024;
/** A client with more unread data than this receives no more until it catches up. */
const maxUnreadBytes = 1024 * 1024;
const maxStatusBytes = 1024 * 1024;

/**
 * Returns the requested protocol, as the client spelled it, if it must be translated; undefined if the
 * connection can be tunneled unchanged.
 */
export function toTranslate(call: Call, dialect: Dialect, kind: "commands" | "ports"): string | undefined {
  if (!isWebSocket(call) || !isHandshake(call)) return undefined;
  const offered = protocolsWithoutToken(
    headerList(call.headers, "sec-websocket-protocol"),
    streamProtocols.bearerTokenPrefix,
  );
  const wanted = kind === "commands" ? newestChannel : streamProtocols.tunnelledPortForward;
  return offered.find((name) => runtimeProtocols(dialect, name) === wanted);
}

const agentHeaders = (call: Call, protocol: string) => {
  const {
    "sec-websocket-protocol": _,
    "sec-websocket-key": __,
    "sec-websocket-version": ___,
    "sec-websocket-extensions": ____,
    ...rest
  } = forwarded(call);
  return {
    ...rest,
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "x-stream-protocol-version": protocol,
    "content-length": "0",
  };
};

/**
 * Exec and attach: maps each channel of the client to a stream of the agent, and forwards the end of stdin.
 */
export function translateChannels(
  call: Call,
  target: TunnelTarget,
  streams: Pick<PodAttachOptions, "stdin" | "stdout" | "stderr" | "tty">,
  protocol: string,
  stopping: AbortSignal,
): Promise<Reply> {
  const request = { ...target, method: "POST", headers: agentHeaders(call, channelOfRuntimes) };
  return upgraded(call, request, stopping, (agent, head) => (socket, early) => {
    void withClient({ call, socket, head: early, protocol, agent, stopping }, async (client) => {
      const session = spdySession(agent);
      await serveChannels(client, agent, session, streams);
      session.feed(head.rest);
    });
  });
}

/** Port forwarding: the client sends the agent's protocol in WebSocket messages. */
export function translatePorts(
  call: Call,
  target: TunnelTarget,
  protocol: string,
  stopping: AbortSignal,
): Promise<Reply> {
  const request = { ...target, method: "POST", headers: agentHeaders(call, streamProtocols.portForward) };
  return upgraded(call, request, stopping, (agent, head: Head) => (socket, early) => {
    void withClient({ call, socket, head: early, protocol, agent, stopping }, (client) => {
      const pass = (chunk: Uint8Array): void => sent(client, agent, chunk);
      if (head.rest.length) pass(head.rest);
      agent.on("data", pass);
      client.on("message", (message) => {
        if (!agent.write(bytesOf(message))) rest(client, agent);
      });
    });
  });
}

interface ClientConnection {
  readonly call: Call;
  readonly socket: Duplex;
  readonly head: Uint8Array;
  readonly protocol: string;
  readonly agent: Socket;
  readonly stopping: AbortSignal;
}

/** Completes the handshake with the client; when either side disconnects, the other one is closed, too. */
async function withClient(
  { call, socket, head, protocol, agent, stopping }: ClientConnection,
  serve: (client: WebSocket) => void | Promise<void>,
): Promise<void> {
  agent.on("error", () => agent.destroy());
  try {
    const client = await acceptWebSocket({ call, socket, head }, protocol, maxMessageBytes);
    const cut = (): void => {
      client.terminate();
      agent.destroy();
    };
    stopping.addEventListener("abort", cut, { once: true });
    agent.setTimeout(idleMilliseconds, cut);
    client.once("close", () => {
      stopping.removeEventListener("abort", cut);
      agent.destroy();
    });
    agent.once("close", () => closeSocket(client));
    // No data is processed before both sides have listeners.
    client.pause();
    await serve(client);
    client.resume();
    agent.resume();
  } catch {
    socket.destroy();
    agent.destroy();
  }
}

async function serveChannels(
  client: WebSocket,
  agent: Socket,
  session: SpdySession,
  { stdin, stdout, stderr, tty }: Pick<PodAttachOptions, "stdin" | "stdout" | "stderr" | "tty">,
): Promise<void> {
  const shown = (channel: number) => ({
    onData: (data: Buffer) => sent(client, agent, Buffer.concat([Buffer.from([channel]), data])),
  });
  const statusChunks: Buffer[] = [];
  let length = 0;
  let over = false;
  // The status is sent last, after all output.
  const finish = (): void => {
    if (over) return;
    over = true;
    if (statusChunks.length > 0)
      sent(client, agent, Buffer.concat([Buffer.from([channels.error]), ...statusChunks]));
    session.close();
    closeSocket(client);
  };
  const endsObject = objectEnd();
  const status = {
    onData: (data: Buffer): void => {
      length += data.length;
      if (length > maxStatusBytes) return;
      statusChunks.push(Buffer.from(data));
      // Runtimes keep this stream open; it carries one complete JSON document.
      if (endsObject(data) && isWhole(Buffer.concat(statusChunks))) finish();
    },
    onEnd: finish,
  };
  const into = new Map<number, SpdyStream>();
  await session.open({ streamtype: "error" }, status);
  if (stdin) into.set(channels.stdin, await session.open({ streamtype: "stdin" }, {}));
  if (stdout) await session.open({ streamtype: "stdout" }, shown(channels.stdout));
  if (stderr && !tty) await session.open({ streamtype: "stderr" }, shown(channels.stderr));
  if (tty) into.set(channels.resize, await session.open({ streamtype: "resize" }, {}));
  client.on("message", (message) => {
    const bytes = bytesOf(message);
    const [channel, ...more] = bytes.subarray(0, 2);
    if (channel === closing) {
      into.get(more[0] ?? closing)?.end();
      into.delete(more[0] ?? closing);
    } else if (
      channel !== undefined &&
      bytes.length > 1 &&
      into.get(channel)?.write(bytes.subarray(1)) === false
    )
      rest(client, agent);
  });
  // Signals to the client that the connection is established.
  client.send(Buffer.from([stdout ? channels.stdout : stderr ? channels.stderr : channels.error]));
}

const [quote, backslash, opening, ending] = Buffer.from('"\\{}');

/**
 * Returns a function that takes a text in parts, and returns true for the part in which its first object ends.
 * The parts may be single bytes, so none is looked at twice.
 */
function objectEnd(): (part: Uint8Array) => boolean {
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  let isOver = false;
  return (part) => {
    if (isOver) return false;
    for (const byte of part) {
      if (isEscaped) isEscaped = false;
      else if (isString && byte === backslash) isEscaped = true;
      else if (byte === quote) isString = !isString;
      else if (!isString && byte === opening) depth++;
      else if (!isString && byte === ending && --depth <= 0) return (isOver = true);
    }
    return false;
  };
}

function isWhole(text: Buffer): boolean {
  try {
    JSON.parse(text.toString());
    return true;
  } catch {
    return false;
  }
}

const bytesOf = (message: RawData): Buffer =>
  Array.isArray(message) ? Buffer.concat(message) : Buffer.from(message as Buffer);

/** Sends to the client; pauses the agent if the client does not read. */
function sent(client: WebSocket, agent: Socket, bytes: Uint8Array): void {
  if (client.readyState !== client.OPEN) return;
  client.send(bytes, { binary: true }, () => {
    if (agent.isPaused() && client.bufferedAmount < maxUnreadBytes) agent.resume();
  });
  if (client.bufferedAmount > maxUnreadBytes) agent.pause();
}

/** Pauses the client until the agent has accepted the data. */
function rest(client: WebSocket, agent: Socket): void {
  client.pause();
  agent.once("drain", () => client.resume());
}
