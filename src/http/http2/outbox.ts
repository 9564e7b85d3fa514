// What leaves a connection, and in which order: control frames first, then answers, a frame of each in turn,
// as far as the client made room.
import type { Socket } from "node:net";
import { addData, addDataHead, addFrames, addHeaders, batchBytes, batchSize, sendBatch } from "./batch.ts";
import { frameBytes, startWindow } from "./frames.ts";
import type { Stream } from "./stream.ts";

/** A client that reads nothing is not read from, either. */
const stalledBytes = 1024 * 1024;
/** Streams with less than this waiting count as drained. */
export const drainBytes = 64 * 1024;

export class Outbox {
  /** What the client lets us send on all streams together. */
  window = startWindow;
  private readonly socket: Socket;
  private readonly finished: (stream: Stream) => void;
  private control: Buffer[] = [];
  private readonly ready = new Set<Stream>();
  private scheduled = false;
  private closed = false;

  constructor(socket: Socket, finished: (stream: Stream) => void) {
    this.socket = socket;
    this.finished = finished;
  }

  /** A frame that no window holds back. */
  add(frame: Buffer): void {
    this.control.push(frame);
    this.schedule();
  }

  /** The stream has something to send, or room for it. */
  sendable(stream: Stream): void {
    if (!hasTurn(stream)) return;
    this.ready.add(stream);
    this.schedule();
  }

  forget(stream: Stream): void {
    this.ready.delete(stream);
  }

  close(): void {
    this.closed = true;
    this.control = [];
    this.ready.clear();
  }

  /** All that is said in this turn of the event loop leaves together. */
  schedule(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** Stops reading from a client that does not read. */
  backlogged(): void {
    if (this.socket.writableLength > stalledBytes) this.socket.pause();
  }

  flush(): void {
    if (this.closed) return;
    this.takeControl();
    // What the network has not taken yet comes first; `drain` calls again.
    if (!this.socket.writableNeedDrain && this.ready.size > 0) {
      this.takeTurns();
      // Answers that ended early have said so.
      this.takeControl();
    }
    if (batchSize() === 0) return;
    sendBatch(this.socket);
    if (this.ready.size > 0 && this.window > 0 && !this.socket.writableNeedDrain) this.schedule();
  }

  private takeControl(): void {
    if (this.control.length === 0) return;
    for (const frame of this.control) addFrames(frame);
    this.control = [];
  }

  private takeTurns(): void {
    const most = batchBytes();
    for (const stream of this.ready) {
      if (batchSize() >= most) return;
      this.ready.delete(stream);
      if (stream.answer) this.sendHeaders(stream, stream.answer);
      if (stream.pendingBytes > 0) this.sendData(stream);
      else if (stream.ended && !stream.answered) this.sendEnd(stream);
      if (stream.closed) continue;
      stream.sent(drainBytes);
      if (hasTurn(stream)) this.ready.add(stream);
      // Nobody has a turn until there is room for all.
      if (this.window <= 0) return;
    }
  }

  private sendHeaders(stream: Stream, { status, headers }: NonNullable<Stream["answer"]>): void {
    stream.answer = undefined;
    const ends = stream.ended && stream.pendingBytes === 0;
    addHeaders(stream.id, status, headers, ends);
    if (ends) this.finish(stream);
  }

  private sendData(stream: Stream): void {
    const length = Math.min(frameBytes, this.window, stream.window, stream.pendingBytes);
    if (length <= 0) return;
    const ends = stream.ended && length === stream.pendingBytes;
    addDataHead(stream.id, length, ends);
    stream.take(length, addData);
    this.window -= length;
    stream.window -= length;
    if (ends) this.finish(stream);
  }

  private sendEnd(stream: Stream): void {
    addDataHead(stream.id, 0, true);
    this.finish(stream);
  }

  private finish(stream: Stream): void {
    stream.answered = true;
    this.finished(stream);
  }
}

const hasTurn = (stream: Stream): boolean =>
  stream.answer !== undefined ||
  (stream.responded && (stream.pendingBytes > 0 ? stream.window > 0 : stream.ended && !stream.answered));
