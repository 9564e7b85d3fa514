// One exchange on an HTTP/2 connection: a request's body as it comes, an answer as the client makes room for
// it.
import { BodyCutShort, BodyTooLarge } from "../call.ts";
import type { AnswerHeaders } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { type Fault, fault } from "./frames.ts";
import type { RequestHead } from "./request-head.ts";

interface Reader {
  readonly limit: number;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
}

const none = new Uint8Array(0);
export const receiveWindow = 1024 * 1024;

export class Stream {
  readonly id: number;
  readonly head: RequestHead;
  private readonly connection: Connection;

  /** What the request's body still may send; refilled as somebody reads. */
  room = receiveWindow;
  /** What was read of it and is not yet given back. */
  owed = 0;
  private chunks: Uint8Array[] = [];
  received = 0;
  private taken = 0;
  private declared = -1;
  private reader: Reader | undefined;
  private discards = false;
  complete = false;

  /** What the client lets us send. */
  window: number;
  private pending: Uint8Array[] = [];
  private pendingAt = 0;
  pendingBytes = 0;
  /** How much was pending when somebody looked last. */
  pendingBefore = 0;
  /** What the answer begins with, until it is sent. */
  answer: { readonly status: number; readonly headers: AnswerHeaders } | undefined;
  responded = false;
  ended = false;
  /** All of the answer is on its way. */
  answered = false;
  closed = false;
  private listeners: (() => void)[] | undefined;
  private waiting: (() => void)[] | undefined;

  constructor(connection: Connection, id: number, head: RequestHead, window: number) {
    this.connection = connection;
    this.id = id;
    this.head = head;
    this.window = window;
    const length = head.headers["content-length"];
    if (length === undefined) return;
    if (typeof length === "string" && /^\d{1,15}$/.test(length)) this.declared = Number(length);
    else head.malformed ??= "content-length is no length";
  }

  /** Bytes of the body. False when there are more than the request announced. */
  receive(chunk: Uint8Array): boolean {
    this.received += chunk.length;
    if (this.declared >= 0 && this.received > this.declared) return false;
    if (this.discards) this.connection.consumed(this, chunk.length);
    else if (chunk.length > 0) {
      this.chunks.push(chunk);
      if (this.reader) this.makeRoom(this.reader);
    }
    return true;
  }

  /** The body is complete. False when there is less of it than the request announced. */
  finish(): boolean {
    if (this.declared >= 0 && this.received !== this.declared) return false;
    this.complete = true;
    this.settle();
    return true;
  }

  /** The whole body, once. */
  body(limit: number): Promise<Uint8Array> {
    if (this.declared > limit) {
      this.discard();
      return Promise.reject(new BodyTooLarge(limit));
    }
    if (this.closed && !this.complete) return Promise.reject(new BodyCutShort());
    if (this.received === 0 && !this.complete && this.head.headers["expect"] === "100-continue")
      this.connection.askForBody(this);
    return new Promise((resolve, reject) => {
      this.reader = { limit, resolve, reject };
      this.makeRoom(this.reader);
      this.settle();
    });
  }

  /** Makes room for as much as has come. */
  private makeRoom(reader: Reader): void {
    const fresh = this.received - this.taken;
    this.taken = this.received;
    if (fresh > 0) this.connection.consumed(this, fresh);
    if (this.received <= reader.limit) return;
    this.reader = undefined;
    this.discard();
    reader.reject(new BodyTooLarge(reader.limit));
  }

  private settle(): void {
    if (!this.reader || !this.complete) return;
    const { chunks } = this;
    this.chunks = [];
    this.reader.resolve(
      chunks.length === 0 ? none : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
    );
    this.reader = undefined;
  }

  /** What came and what comes of the body is nobody's. */
  discard(): void {
    this.discards = true;
    this.chunks = [];
    const fresh = this.received - this.taken;
    this.taken = this.received;
    if (fresh > 0) this.connection.consumed(this, fresh);
  }

  /** Sends the headers of the answer, with all or the beginning of its body. */
  respond(status: number, headers: AnswerHeaders, parts: readonly Uint8Array[], end: boolean): void {
    if (this.closed || this.responded) return;
    this.responded = true;
    this.answer = { status, headers };
    for (const part of parts) this.queue(part);
    this.ended = end;
    this.connection.sendable(this);
  }

  write(chunk: Uint8Array): void {
    if (this.closed || this.ended) return;
    this.queue(chunk);
    this.connection.sendable(this);
  }

  end(): void {
    if (this.closed || this.ended) return;
    this.ended = true;
    this.connection.sendable(this);
  }

  reset(code: Fault = fault.internal): void {
    if (!this.closed) this.connection.reset(this, code);
  }

  goAway(): void {
    this.connection.leave();
  }

  private queue(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.pending.push(chunk);
    this.pendingBytes += chunk.length;
  }

  /** Lets go of so many waiting bytes. */
  take(bytes: number, visit: (chunk: Uint8Array) => void): void {
    this.pendingBytes -= bytes;
    for (let left = bytes; left > 0;) {
      const chunk = this.pending[this.pendingAt]!;
      if (chunk.length > left) {
        visit(chunk.subarray(0, left));
        this.pending[this.pendingAt] = chunk.subarray(left);
        return;
      }
      visit(chunk);
      left -= chunk.length;
      this.pendingAt++;
    }
    // Sent parts are let go of now and then: always would cost as much as sending.
    if (this.pendingBytes > 0 && this.pendingAt < 1000) return;
    this.pending = this.pending.slice(this.pendingAt);
    this.pendingAt = 0;
  }

  /** Resolves when less than `bytes` wait, or the stream is closed. */
  drained(bytes: number): Promise<void> {
    if (this.closed || this.pendingBytes < bytes) return Promise.resolve();
    return new Promise((resolve) => (this.waiting ??= []).push(resolve));
  }

  /** Tells those who wait that bytes have left. */
  sent(bytesLeft: number): void {
    if (!this.waiting || this.pendingBytes >= bytesLeft) return;
    const waiting = this.waiting;
    this.waiting = undefined;
    for (const resolve of waiting) resolve();
  }

  onClose(listener: () => void): void {
    if (this.closed) listener();
    else (this.listeners ??= []).push(listener);
  }

  /** Nothing comes or goes any more. Called by the connection. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.complete) this.discard();
    this.pending = [];
    this.pendingBytes = 0;
    this.sent(1);
    this.reader?.reject(new BodyCutShort());
    this.reader = undefined;
    const listeners = this.listeners;
    this.listeners = undefined;
    if (listeners) for (const listener of listeners) listener();
  }
}
