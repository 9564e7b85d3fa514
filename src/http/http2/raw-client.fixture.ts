// For tests: a plaintext connection, and a client that sends raw frames and returns what it receives.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import type { TestContext } from "node:test";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { flag, frame, frameHead, settingsFrame, writeHead } from "./frames.ts";
import type { Stream } from "./stream.ts";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const hello = Buffer.concat([preface, settingsFrame({})]);

/** GET https a / by indexes of the static table. */
export const getBlock = Buffer.from([0x82, 0x87, 0x84, 0x01, 0x01, 0x61]);
/** POST https a / */
export const postBlock = Buffer.from([0x83, 0x87, 0x84, 0x01, 0x01, 0x61]);

export function made(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const bytes = Buffer.alloc(frameHead + payload.length);
  writeHead(bytes, 0, payload.length, type, flags, stream);
  bytes.set(payload, frameHead);
  return bytes;
}

export const get = (stream: number): Buffer =>
  made(frame.headers, flag.endHeaders | flag.endStream, stream, getBlock);
export const post = (stream: number): Buffer => made(frame.headers, flag.endHeaders, stream, postBlock);

/** A literal field, neither indexed nor Huffman-coded. */
export const literal = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);

export interface RawClient {
  readonly socket: Socket;
  send(...frames: readonly Uint8Array[]): void;
  /** Returns the next frame that matches; those before it are skipped. */
  next(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Returns the code of the GOAWAY that ends the connection. */
  refused(): Promise<number>;
}

export const answerWith =
  (text: string) =>
  async (stream: Stream): Promise<void> =>
    stream.respond(200, {}, [Buffer.from(text)], true);

/** Starts a server for one test and returns its port. */
export async function serve(
  t: TestContext,
  serveStream: ConnectionOptions["serve"],
  more: Partial<ConnectionOptions> = {},
): Promise<number> {
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const options = {
      maxStreams: 10,
      maxHeaderBytes: 4096,
      maxTargetBytes: 4096,
      maxHeaderListBytes: 8192,
      headersTimeoutMilliseconds: 10_000,
      idleTimeoutMilliseconds: 60_000,
      onInternalError: (error: Error) => assert.ifError(error),
    };
    const connection = new Connection(socket, {
      ...options,
      serve: serveStream,
      begin: (exchange) => exchange(),
      onClose: () => connections.delete(connection),
      ...more,
    });
    connections.add(connection);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    for (const connection of connections) connection.destroy();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export async function rawClient(t: TestContext, port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  t.after(() => socket.destroy());
  await once(socket, "connect");
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  let wake = (): void => undefined;
  let over = false;
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= frameHead && rest.length >= frameHead + rest.readUIntBE(0, 3)) {
      const end = frameHead + rest.readUIntBE(0, 3);
      frames.push({
        type: rest[3]!,
        flags: rest[4]!,
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(frameHead, end),
      });
      rest = rest.subarray(end);
    }
    wake();
  });
  socket.on("close", () => {
    over = true;
    wake();
  });
  const next = async (fits: (frame: Frame) => boolean): Promise<Frame> => {
    for (;;) {
      for (let found = frames.shift(); found; found = frames.shift()) if (fits(found)) return found;
      if (over) throw new Error("the connection ended");
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return {
    socket,
    send: (...sent) => void socket.write(Buffer.concat(sent)),
    next,
    refused: async () => {
      const { payload } = await next(({ type }) => type === frame.goAway);
      if (!over) await once(socket, "close");
      return payload.readUInt32BE(4);
    },
  };
}
