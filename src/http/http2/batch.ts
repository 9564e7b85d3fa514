// Frames gathered and handed to the network as one: each write costs the same, however long it is.
import type { Socket } from "node:net";
import { encodeHeaders } from "./header-encoder.ts";
import { flag, frame, frameBytes, frameHead, writeHead } from "./frames.ts";

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | number>>;

/** Long batches cost least by the byte, but a client that reads slowly holds one for as long as it likes. */
const longBatch = 512 * 1024;
const shortBatch = 32 * 1024;
/** Once so much is on its way in the whole process, batches are short. */
const mostBytes = 32 * 1024 * 1024;

// A buffer for each batch would be more garbage than all the rest together: those on their way come back and
// are used again. The shortest come out of the runtime's own supply; the longest leave in the buffer they
// were gathered in.
const shortBytes = 4 * 1024;
const middleBytes = 64 * 1024;
const bufferBytes = longBatch + 64 * 1024;
const middle: Buffer[] = [];
const mostMiddle = 32;
const long: Buffer[] = [];
const mostLong = 8;

let bytesOnTheirWay = 0;

// One batch is gathered at a time, without a pause: all connections share the place.
let buffer: Buffer = Buffer.allocUnsafeSlow(bufferBytes);
let size = 0;

/** How much is to be handed to the network at once; the rest waits in the streams, where it is counted. */
export const batchBytes = (): number => (bytesOnTheirWay < mostBytes ? longBatch : shortBatch);

export const batchSize = (): number => size;

/** Frames already made. */
export function addFrames(bytes: Uint8Array): void {
  room(bytes.length);
  buffer.set(bytes, size);
  size += bytes.length;
}

export function addHeaders(stream: number, status: number, headers: AnswerHeaders, ends: boolean): void {
  const block = encodeHeaders(status, headers);
  let flags = ends ? flag.endStream : 0;
  for (let at = 0; at === 0 || at < block.length; at += frameBytes) {
    const part = block.length <= frameBytes ? block : block.subarray(at, at + frameBytes);
    if (at + frameBytes >= block.length) flags |= flag.endHeaders;
    room(frameHead + part.length);
    writeHead(buffer, size, part.length, at === 0 ? frame.headers : frame.continuation, flags, stream);
    buffer.set(part, size + frameHead);
    size += frameHead + part.length;
    flags = 0;
  }
}

/** The head of a DATA frame; its bytes are added next. */
export function addDataHead(stream: number, length: number, ends: boolean): void {
  room(frameHead + length);
  writeHead(buffer, size, length, frame.data, ends ? flag.endStream : 0, stream);
  size += frameHead;
}

export function addData(chunk: Uint8Array): void {
  buffer.set(chunk, size);
  size += chunk.length;
}

export function sendBatch(socket: Socket): void {
  const bytes = size;
  size = 0;
  if (bytes <= shortBytes) {
    const made = Buffer.allocUnsafe(bytes);
    buffer.copy(made, 0, 0, bytes);
    socket.write(made);
  } else if (bytes <= middleBytes) {
    const made = middle.pop() ?? Buffer.allocUnsafeSlow(middleBytes);
    buffer.copy(made, 0, 0, bytes);
    write(socket, made, bytes, () => void (middle.length < mostMiddle && middle.push(made)));
  } else {
    const made = buffer;
    buffer = long.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    write(
      socket,
      made,
      bytes,
      () => void (long.length < mostLong && made.length === bufferBytes && long.push(made)),
    );
  }
}

function write(socket: Socket, from: Buffer, bytes: number, done: () => void): void {
  bytesOnTheirWay += bytes;
  socket.write(from.subarray(0, bytes), () => {
    bytesOnTheirWay -= bytes;
    done();
  });
}

/** Nearly always there is room; answers with very long headers are the exception. */
function room(bytes: number): void {
  if (size + bytes <= buffer.length) return;
  const larger = Buffer.allocUnsafeSlow((size + bytes) * 2);
  buffer.copy(larger, 0, 0, size);
  buffer = larger;
}
