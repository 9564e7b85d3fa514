// The output of a connection: control frames first, then responses, one frame of each stream in turn, as far
// as flow control allows.
import type { Socket } from "node:net";
import {
  addData,
  addDataHead,
  addFrames,
  addHeaders,
  addTrailers,
  batchBytes,
  batchSize,
  discardBatch,
  sendBatch,
} from "./batch.ts";
import { frameBytes, initialWindowSize } from "./frames.ts";
import type { Stream } from "./stream.ts";

/** Reading is paused while more than this number of bytes waits for the client. */
const backlogBytes = 1024 * 1024;
/** Streams with less pending data than this count as drained. */
export const drainBytes = 64 * 1024;

export class Outbox {
  /** The send window of the connection. */
  window = initialWindowSize;
  /** Body bytes sent in all responses. */
  sentBytes = 0;
  private sentResponses = 0;
  private readonly socket: Socket;
  private readonly finished: (stream: Stream) => void;
  private readonly failed: (stream: Stream, error: Error) => void;
  private control: Buffer[] = [];
  private readonly ready = new Set<Stream>();
  private scheduled = false;
  private closed = false;

  /** `failed` is called for a stream whose response cannot be encoded. */
  constructor(socket: Socket, finished: Outbox["finished"], failed: Outbox["failed"]) {
    this.socket = socket;
    this.finished = finished;
    this.failed = failed;
  }

  /**
   * Number of frames that clients may be expected to react to: two for each response, and each frame of its
   * body.
   */
  answeredFrames(): number {
    return this.sentResponses * 2 + this.sentBytes / frameBytes;
  }

  /** Adds a frame that is not subject to flow control. */
  add(frame: Buffer): void {
    this.control.push(frame);
    this.schedule();
  }

  /** Called when a stream has something to send or its window has grown. */
  sendable(stream: Stream): void {
    if (!isSendable(stream)) return;
    this.ready.add(stream);
    this.schedule();
  }

  remove(stream: Stream): void {
    this.ready.delete(stream);
  }

  close(): void {
    this.closed = true;
    this.control = [];
    this.ready.clear();
  }

  /** Schedules a flush: everything added in this turn of the event loop is sent in one write. */
  schedule(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** Stops reading from a client that does not read. */
  pauseIfBacklogged(): void {
    if (this.socket.writableLength > backlogBytes) this.socket.pause();
  }

  flush(): void {
    if (this.closed) return;
    try {
      this.gatherControl();
      // Only control frames are sent while the socket is backlogged; its `drain` event flushes again.
      if (!this.socket.writableNeedDrain && this.ready.size > 0) {
        this.gatherStreams();
        // Streams that were reset meanwhile have added RST_STREAM.
        this.gatherControl();
      }
      if (batchSize() === 0) return;
      sendBatch(this.socket);
    } finally {
      // The batch is shared by all connections: no bytes of this one may remain in it.
      discardBatch();
    }
    if (this.ready.size > 0 && this.window > 0 && !this.socket.writableNeedDrain) this.schedule();
  }

  private gatherControl(): void {
    if (this.control.length === 0) return;
    for (const frame of this.control) addFrames(frame);
    this.control = [];
  }

  private gatherStreams(): void {
    const limit = batchBytes();
    for (const stream of this.ready) {
      if (batchSize() >= limit) return;
      this.ready.delete(stream);
      const before = batchSize();
      try {
        this.gatherStream(stream);
      } catch (error) {
        discardBatch(before);
        this.failed(stream, error as Error);
      }
      if (stream.closed) continue;
      stream.sent(drainBytes);
      if (isSendable(stream)) this.ready.add(stream);
      // The connection's send window is exhausted.
      if (this.window <= 0) return;
    }
  }

  private gatherStream(stream: Stream): void {
    if (stream.responseHead) this.sendHeaders(stream, stream.responseHead);
    if (stream.pendingBytes > 0) this.sendData(stream);
    else if (stream.ended && !stream.responseSent) this.sendEnd(stream);
  }

  private sendHeaders(stream: Stream, { status, headers }: NonNullable<Stream["responseHead"]>): void {
    stream.responseHead = undefined;
    stream.beforeSending?.();
    const ends = stream.ended && stream.pendingBytes === 0 && !stream.trailers;
    addHeaders(stream.id, status, headers, ends);
    if (ends) this.finish(stream);
  }

  private sendData(stream: Stream): void {
    const length = Math.min(frameBytes, this.window, stream.sendWindow, stream.pendingBytes);
    if (length <= 0) return;
    const ends = stream.ended && length === stream.pendingBytes && !stream.trailers;
    addDataHead(stream.id, length, ends);
    stream.take(length, addData);
    this.window -= length;
    this.sentBytes += length;
    stream.sendWindow -= length;
    if (ends) this.finish(stream);
  }

  private sendEnd(stream: Stream): void {
    if (stream.trailers) addTrailers(stream.id, stream.trailers);
    else addDataHead(stream.id, 0, true);
    this.finish(stream);
  }

  private finish(stream: Stream): void {
    stream.responseSent = true;
    this.sentResponses++;
    this.finished(stream);
  }
}

const isSendable = (stream: Stream): boolean =>
  stream.responseHead !== undefined ||
  (stream.responded &&
    (stream.pendingBytes > 0 ? stream.sendWindow > 0 : stream.ended && !stream.responseSent));
