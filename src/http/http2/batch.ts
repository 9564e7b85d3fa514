// Collects the frames of one flush in one write, whose cost hardly depends on its length.
import type { Socket } from "node:net";
import { encodeHeaders, encodeTrailers } from "./header-encoder.ts";
import { flag, frame, frameBytes, frameHead, writeHead } from "./frames.ts";

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | number>>;

/** Long batches cost least per byte, but a slow client keeps its batch in memory. */
const longBatch = 512 * 1024;
const shortBatch = 32 * 1024;
/** Batches are short while more bytes than this wait for the network in the whole process. */
const maxBytesInFlight = 32 * 1024 * 1024;

// Allocating a buffer for each batch would cause more garbage than everything else together, so buffers are
// reused after they are written. The shortest batches use Node's buffer pool; the longest are sent in the
// buffer they were collected in.
const shortBytes = 4 * 1024;
const middleBytes = 64 * 1024;
const bufferBytes = longBatch + 64 * 1024;
const middle: Buffer[] = [];
const maxMiddle = 32;
const long: Buffer[] = [];
const maxLong = 8;

let bytesInFlight = 0;

// All connections share one buffer: a flush collects and sends its batch synchronously.
let buffer: Buffer = Buffer.allocUnsafeSlow(bufferBytes);
let size = 0;

/** Maximum size of one flush; the rest stays pending in the streams, where it is accounted for. */
export const batchBytes = (): number => (bytesInFlight < maxBytesInFlight ? longBatch : shortBatch);

export const batchSize = (): number => size;

/** Truncates the batch to its first `bytes` bytes. */
export function discardBatch(bytes = 0): void {
  size = Math.min(size, bytes);
}

/** Appends complete frames. */
export function addFrames(bytes: Uint8Array): void {
  ensureRoom(bytes.length);
  buffer.set(bytes, size);
  size += bytes.length;
}

export function addHeaders(stream: number, status: number, headers: ResponseHeaders, ends: boolean): void {
  addHeaderBlock(stream, encodeHeaders(status, headers), ends);
}

export function addTrailers(stream: number, trailers: ResponseHeaders): void {
  addHeaderBlock(stream, encodeTrailers(trailers), true);
}

function addHeaderBlock(stream: number, block: Buffer, ends: boolean): void {
  let flags = ends ? flag.endStream : 0;
  for (let at = 0; at === 0 || at < block.length; at += frameBytes) {
    const part = block.length <= frameBytes ? block : block.subarray(at, at + frameBytes);
    if (at + frameBytes >= block.length) flags |= flag.endHeaders;
    ensureRoom(frameHead + part.length);
    writeHead(buffer, size, part.length, at === 0 ? frame.headers : frame.continuation, flags, stream);
    buffer.set(part, size + frameHead);
    size += frameHead + part.length;
    flags = 0;
  }
}

/** Appends the header of a DATA frame; its payload is appended next. */
export function addDataHead(stream: number, length: number, ends: boolean): void {
  ensureRoom(frameHead + length);
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
    write(socket, made, bytes, () => void (middle.length < maxMiddle && middle.push(made)));
  } else {
    const made = buffer;
    buffer = long.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    write(
      socket,
      made,
      bytes,
      () => void (long.length < maxLong && made.length === bufferBytes && long.push(made)),
    );
  }
}

function write(socket: Socket, from: Buffer, bytes: number, done: () => void): void {
  bytesInFlight += bytes;
  socket.write(from.subarray(0, bytes), () => {
    bytesInFlight -= bytes;
    done();
  });
}

/** Grows the buffer if necessary, which only responses with very long headers require. */
function ensureRoom(bytes: number): void {
  if (size + bytes <= buffer.length) return;
  const larger = Buffer.allocUnsafeSlow((size + bytes) * 2);
  buffer.copy(larger, 0, 0, size);
  buffer = larger;
}
