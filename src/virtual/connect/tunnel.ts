// Upgraded connections: forwards the request to the agent and, once it has accepted, passes bytes both ways
// unchanged.
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { ApiError, plainError, serviceUnavailable } from "#base";
import { type Call, type Reply, onceClosed } from "#http";
import { type AgentAddress, dial } from "./agents.ts";
import { type PlainHeaders, endToEnd, forwarded } from "./headers.ts";

const maxHeadBytes = 64 * 1024;
const maxRefusalBytes = 1024 * 1024;
/** How long the agent may take to accept or refuse: it may have to start something first. */
const headTimeoutMilliseconds = 30_000;
/** Connections without traffic are closed after this time; agents themselves time out after four hours. */
export const idleMilliseconds = 4.5 * 3600 * 1000;
/** How long remaining data may take to reach a client that does not read. */
const drainTimeoutMilliseconds = 10_000;

export interface TunnelTarget extends AgentAddress {
  /** Encoded, with the query. */
  readonly path: string;
  /** Undefined for a plain connection. */
  readonly tls: ConnectionOptions | undefined;
  readonly timeoutMilliseconds: number;
}

export interface Head {
  readonly status: number;
  readonly headers: PlainHeaders;
  readonly raw: Buffer;
  /** Bytes received after the head. */
  readonly rest: Buffer;
}

/**
 * Forwards an upgrade request. A refusal by the agent is returned to the client. `stopping` ends the tunnel.
 */
export function tunnel(call: Call, target: TunnelTarget, stopping: AbortSignal): Promise<Reply> {
  return upgraded(
    call,
    { ...target, method: call.method, headers: forwarded(call) },
    stopping,
    (socket, head) => (client, early) => join(client, early, socket, head, stopping),
  );
}

/** An upgrade request made on behalf of a client. */
export interface UpgradeRequest extends TunnelTarget {
  readonly method: string;
  readonly headers: PlainHeaders;
}

type TakeOver = (client: Duplex, early: Uint8Array) => void;

/**
 * Requests an upgrade; once accepted, `agreed` returns the function that takes over the client's connection.
 * A refusal is returned to the client.
 */
export async function upgraded(
  call: Call,
  { path, tls, timeoutMilliseconds, method, headers: requestHeaders, ...address }: UpgradeRequest,
  stopping: AbortSignal,
  agreed: (agent: Socket, head: Head) => TakeOver,
): Promise<Reply> {
  const socket = await dial(address, tls, timeoutMilliseconds, AbortSignal.any([call.signal, stopping]));
  // The connection may fail before anything reads from it.
  socket.on("error", () => socket.destroy());
  try {
    socket.write(requestText(method, path, requestHeaders), "latin1");
    const head = await readHead(socket, call.signal);
    if (head.status === 101) return { status: 101, headers: {}, body: { takeOver: agreed(socket, head) } };
    if (head.status < 400) throw plainError(`invalid upgrade response: status code ${head.status}`);
    const body = await readRefusal(socket, head);
    socket.destroy();
    const { "content-length": _length, ...headers } = endToEnd(head.headers);
    return { status: head.status, headers, body };
  } catch (error) {
    socket.destroy();
    throw error instanceof ApiError
      ? error
      : serviceUnavailable(`error talking to ${address.host}:${address.port}: ${(error as Error).message}`);
  }
}

function requestText(method: string, path: string, headers: PlainHeaders): string {
  const lines = [`${method} ${path} HTTP/1.1`];
  for (const [name, value] of Object.entries(headers))
    for (const each of [value].flat()) lines.push(`${name}: ${each}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Reads up to the empty line that ends the head of a response. */
async function readHead(socket: Socket, signal: AbortSignal): Promise<Head> {
  let seen: Buffer = Buffer.alloc(0);
  const raw = await readUntil(socket, signal, headTimeoutMilliseconds, (chunk) => {
    seen = Buffer.concat([seen, chunk]);
    const end = seen.indexOf("\r\n\r\n");
    if (end < 0 && seen.length > maxHeadBytes) throw new Error("the answer's head is too large");
    return end < 0 ? undefined : end + 4;
  });
  const [first = "", ...lines] = seen
    .subarray(0, raw - 4)
    .toString("latin1")
    .split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  if (!Number.isInteger(status)) throw new Error("the answer is not HTTP");
  const headers: PlainHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon <= 0) throw new Error("the answer has a header that is none");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : [headers[name], value].flat();
  }
  return { status, headers, raw: seen.subarray(0, raw), rest: seen.subarray(raw) };
}

/** Reads the body of a refusal: up to its Content-Length or the end of the connection, at most a megabyte. */
async function readRefusal(socket: Socket, { headers, rest }: Head): Promise<Buffer> {
  const contentLength = headers["content-length"];
  const wanted =
    typeof contentLength === "string"
      ? Math.min(Number(contentLength) || 0, maxRefusalBytes)
      : maxRefusalBytes;
  const buffer = Buffer.alloc(wanted);
  let length = rest.copy(buffer);
  if (length < wanted) {
    await readUntil(socket, new AbortController().signal, drainTimeoutMilliseconds, (chunk) => {
      length += chunk.copy(buffer, length);
      return length === wanted ? wanted : undefined;
    }).catch(() => undefined);
  }
  const body = buffer.subarray(0, length);
  return isChunked(headers) ? dechunked(body) : body;
}

const isChunked = (headers: PlainHeaders): boolean =>
  /\bchunked\b/i.test([headers["transfer-encoding"] ?? ""].flat().join());

function dechunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const line = body.indexOf("\r\n", at);
    const size = line < 0 ? 0 : Number.parseInt(body.subarray(at, line).toString("latin1"), 16);
    if (!size) break;
    parts.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

/** Passes received data to `take` until it returns a number, within a timeout; leaves the socket paused. */
async function readUntil(
  socket: Socket,
  signal: AbortSignal,
  milliseconds: number,
  take: (chunk: Buffer) => number | undefined,
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const done = (outcome: number | Error): void => {
      clearTimeout(timer);
      socket.removeListener("data", data);
      socket.removeListener("end", ended);
      socket.removeListener("error", done);
      signal.removeEventListener("abort", onAbort);
      socket.pause();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    const data = (chunk: Buffer): void => {
      try {
        const found = take(chunk);
        if (found !== undefined) done(found);
      } catch (error) {
        done(error as Error);
      }
    };
    const ended = (): void => done(new Error("the connection ended early"));
    const onAbort = (): void => done(new Error("the client has gone"));
    const timer = setTimeout(() => done(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
    socket.on("data", data);
    socket.once("end", ended);
    socket.once("error", done);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.resume();
  });
}

/**
 * Connects both sockets. Each direction ends separately; when one side closes, the other one receives the
 * remaining data and is closed, too.
 */
function join(
  client: Duplex,
  early: Uint8Array,
  agent: Socket,
  { raw, rest }: Head,
  stopping: AbortSignal,
): void {
  client.allowHalfOpen = true;
  client.write(raw);
  if (rest.length) client.write(rest);
  if (early.length) agent.write(early);
  const cut = (): void => {
    client.destroy();
    agent.destroy();
  };
  agent.setTimeout(idleMilliseconds, cut);
  stopping.addEventListener("abort", cut, { once: true });
  const follow = (ended: Duplex, other: Duplex): void => {
    ended.on("error", () => ended.destroy());
    onceClosed(ended, () => {
      other.end();
      const timer = setTimeout(cut, drainTimeoutMilliseconds);
      timer.unref();
      other.once("close", () => {
        clearTimeout(timer);
        stopping.removeEventListener("abort", cut);
      });
    });
  };
  follow(client, agent);
  follow(agent, client);
  client.pipe(agent);
  agent.pipe(client);
}
