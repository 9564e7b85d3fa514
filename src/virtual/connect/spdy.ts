// The client side of SPDY/3.1 as agents and runtimes use it: several independent streams over one connection.
// Supports only streams opened by the client, data, end of stream, and replies to pings. Received header
// blocks are ignored.
import type { Duplex } from "node:stream";
import { type Deflate, constants, createDeflate } from "node:zlib";

const kinds = { open: 1, reset: 3, ping: 6, goAway: 7 } as const;
const lastOfStream = 1;
const version = 0x8003;
const frameHead = 8;
const maxDataLength = 256 * 1024;

const known = [
  "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection",
  "content-base content-encoding content-language content-length content-location content-md5 content-range content-type date etag expect expires from host",
  "if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range",
  "referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url",
  "public set-cookie keep-alive origin",
].flatMap((line) => line.split(" ").map((word) => word.replace("_", " ")));
const codes =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No Content" +
  "301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable";
const dates =
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT";
const media =
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdch" +
  "charset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

/** The initial dictionary for header compression, shared by both sides. */
export const dictionary = Buffer.concat([
  ...known.map((word) => counted(word)),
  Buffer.from(codes + dates + media),
]);

function counted(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

export interface SpdyStream {
  /** Returns false when the connection is congested. */
  write(data: Uint8Array): boolean;
  /** Half-closes the stream from this side. */
  end(): void;
}

export interface StreamHandlers {
  onData?(data: Buffer): void;
  /** Called when the other side has closed the stream. */
  onEnd?(): void;
}

export interface SpdySession {
  /** Opens a stream with these headers. */
  open(headers: Readonly<Record<string, string>>, handlers: StreamHandlers): Promise<SpdyStream>;
  /** Processes bytes received before the session was created. */
  feed(bytes: Uint8Array): void;
  /** Sends GOAWAY and ends the connection. */
  close(): void;
}

/** Starts a session on an upgraded connection. */
export function spdySession(socket: Duplex): SpdySession {
  const streams = new Map<number, StreamHandlers>();
  const headers = headerBlocks();
  let next = 1;
  // The head of the current frame, followed by the number with which the body of a control frame begins.
  const start = Buffer.alloc(frameHead + 4);
  let startLength = 0;
  let bodyLeft = 0;
  const control = (kind: number, flags: number, body: Buffer): boolean => {
    const head = Buffer.alloc(frameHead);
    head.writeUInt16BE(version, 0);
    head.writeUInt16BE(kind, 2);
    head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
    return socket.write(Buffer.concat([head, body]));
  };
  const numbers = (...values: readonly number[]): Buffer => {
    const body = Buffer.alloc(4 * values.length);
    values.forEach((value, at) => body.writeUInt32BE(value, 4 * at));
    return body;
  };
  const data = (id: number, flags: number, body: Uint8Array): boolean => {
    const head = Buffer.alloc(frameHead);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
    socket.write(head);
    return body.length === 0 || socket.write(body);
  };
  const ended = (id: number): void => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.onEnd?.();
  };

  // Bodies are processed as they arrive and never held: a frame may have 16 MiB, in parts of any size.
  function feed(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < chunk.length;) {
      if (startLength < frameHead) {
        const taken = chunk.copy(start, startLength, at, at + frameHead - startLength);
        at += taken;
        startLength += taken;
        if (startLength < frameHead) return;
        bodyLeft = start.readUIntBE(5, 3);
      }
      const body = chunk.subarray(at, at + bodyLeft);
      at += body.length;
      bodyLeft -= body.length;
      take(start.readUInt32BE(0), start[4]!, body);
    }
  }

  function take(first: number, flags: number, body: Buffer): void {
    const isData = first < 0x80000000;
    if (!isData) startLength += body.copy(start, startLength);
    else if (body.length > 0) streams.get(first)?.onData?.(body);
    if (bodyLeft > 0) return;
    const kind = first & 0xffff;
    if (isData) {
      if (flags & lastOfStream) ended(first);
    } else if (startLength === start.length) {
      if (kind === kinds.ping) control(kinds.ping, 0, Buffer.from(start.subarray(frameHead)));
      else if (kind === kinds.reset) ended(start.readUInt32BE(frameHead) & 0x7fffffff);
    }
    startLength = 0;
  }

  socket.on("data", feed);
  socket.on("close", () => {
    headers.close();
    for (const id of streams.keys()) ended(id);
  });
  return {
    feed,
    open: async (given, handlers) => {
      const id = next;
      next += 2;
      streams.set(id, handlers);
      const block = await headers.of(given);
      control(kinds.open, 0, Buffer.concat([numbers(id, 0), Buffer.alloc(2), block]));
      return {
        write: (bytes) => {
          let writable = true;
          for (let at = 0; at < bytes.length; at += maxDataLength)
            writable = data(id, 0, bytes.subarray(at, at + maxDataLength));
          return writable;
        },
        end: () => void data(id, lastOfStream, Buffer.alloc(0)),
      };
    },
    close: () => {
      if (!socket.writable) return;
      control(kinds.goAway, 0, numbers(0, 0));
      socket.end();
    },
  };
}

/** Header blocks, compressed sequentially with one shared context, as the other side decompresses them. */
function headerBlocks(): { of(headers: Readonly<Record<string, string>>): Promise<Buffer>; close(): void } {
  const packer: Deflate = createDeflate({ dictionary });
  let parts: Buffer[] = [];
  packer.on("data", (part: Buffer) => void parts.push(part));
  let turn: Promise<unknown> = Promise.resolve();
  const pack = (plain: Buffer): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      parts = [];
      packer.once("error", reject);
      packer.write(plain);
      packer.flush(constants.Z_SYNC_FLUSH, () => {
        packer.removeListener("error", reject);
        resolve(Buffer.concat(parts));
      });
    });
  return {
    of: (headers) => {
      const entries = Object.entries(headers);
      const count = Buffer.alloc(4);
      count.writeUInt32BE(entries.length);
      const plain = Buffer.concat([
        count,
        ...entries.flatMap(([name, value]) => [counted(name), counted(value)]),
      ]);
      const block = turn.then(() => pack(plain));
      turn = block.catch(() => undefined);
      return block;
    },
    close: () => packer.close(),
  };
}
