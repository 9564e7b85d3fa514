// One stream of an HTTP/2 connection: receives the request body and sends the response, as flow control
// allows.
import { IncompleteBody, BodyTooLarge } from "../call.ts";
import type { ResponseHeaders } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { type ErrorCode, errorCode } from "./frames.ts";
import { RequestBody } from "./request-body.ts";
import type { RequestHead } from "./request-head.ts";

interface Reader {
  readonly limit: number;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
}

export const streamWindow = 256 * 1024;

export class Stream {
  readonly id: number;
  readonly head: RequestHead;
  private readonly connection: Connection;

  /** The receive window; replenished as the body is read. */
  receiveWindow = streamWindow;
  /** Consumed bytes not returned by a WINDOW_UPDATE yet. */
  unacknowledged = 0;
  private readonly chunks = new RequestBody();
  /** Body bytes received so far. */
  received = 0;
  private consumed = 0;
  private contentLength = -1;
  private reader: Reader | undefined;
  private bufferedBody: PromiseWithResolvers<void> | undefined;
  private discards = false;
  /** The client has ended the request. */
  complete = false;

  /** The send window. */
  sendWindow: number;
  private pending: Uint8Array[] = [];
  private pendingAt = 0;
  pendingBytes = 0;
  /** `pendingBytes` at the last check for stalled responses. */
  pendingBefore = 0;
  /** Status and headers of the response, until they are sent. */
  responseHead: { readonly status: number; readonly headers: ResponseHeaders } | undefined;
  /** Called before the headers of the response are sent. */
  beforeSending: (() => void) | undefined;
  responded = false;
  ended = false;
  /** Sent after the body, ending the response. */
  trailers: ResponseHeaders | undefined;
  /** The whole response has been passed to the network. */
  responseSent = false;
  closed = false;
  private listeners: (() => void)[] | undefined;
  private waiting: (() => void)[] | undefined;

  constructor(connection: Connection, id: number, head: RequestHead, sendWindow: number) {
    this.connection = connection;
    this.id = id;
    this.head = head;
    this.sendWindow = sendWindow;
    const length = head.headers["content-length"];
    if (length === undefined) return;
    if (typeof length === "string" && /^\d{1,15}$/.test(length)) this.contentLength = Number(length);
    else head.malformed ??= "content-length is not a number";
  }

  /** Accepts bytes of the body. Returns false if they exceed the content length. */
  receive(chunk: Uint8Array): boolean {
    this.received += chunk.length;
    if (this.contentLength >= 0 && this.received > this.contentLength) return false;
    if (this.discards) this.connection.consumed(this, chunk.length);
    else if (chunk.length > 0) {
      this.chunks.add(chunk);
      if (this.reader) this.consume(this.reader);
      else if (this.bufferedBody && this.isBuffered()) this.bufferedBody.resolve();
    }
    return true;
  }

  /** Marks the body as complete. Returns false if it is shorter than the content length. */
  finish(): boolean {
    if (this.contentLength >= 0 && this.received !== this.contentLength) return false;
    this.complete = true;
    this.bufferedBody?.resolve();
    this.settle();
    return true;
  }

  /** Resolves when the body is complete, half of the window has been received, or the stream is closed. */
  buffered(): Promise<void> {
    if (this.isBuffered()) return Promise.resolve();
    this.sendContinueIfExpected();
    return (this.bufferedBody ??= Promise.withResolvers()).promise;
  }

  private isBuffered(): boolean {
    return this.complete || this.closed || this.discards || this.received >= streamWindow / 2;
  }

  private sendContinueIfExpected(): void {
    if (this.received === 0 && !this.complete && this.head.headers["expect"] === "100-continue")
      this.connection.sendContinue(this);
  }

  /** Reads the whole body; may be called once. */
  body(limit: number): Promise<Uint8Array> {
    if (this.contentLength > limit) {
      this.discard();
      return Promise.reject(new BodyTooLarge(limit));
    }
    if (this.closed && !this.complete) return Promise.reject(new IncompleteBody());
    this.sendContinueIfExpected();
    return new Promise((resolve, reject) => {
      this.reader = { limit, resolve, reject };
      this.consume(this.reader);
      this.settle();
    });
  }

  /** Returns flow control window for the received bytes, as a reader is waiting. */
  private consume(reader: Reader): void {
    const fresh = this.received - this.consumed;
    this.consumed = this.received;
    if (fresh > 0) this.connection.consumed(this, fresh);
    if (this.received <= reader.limit) return;
    this.reader = undefined;
    this.discard();
    reader.reject(new BodyTooLarge(reader.limit));
  }

  private settle(): void {
    if (!this.reader || !this.complete) return;
    if (this.discards) this.reader.reject(new IncompleteBody());
    else this.reader.resolve(this.chunks.take());
    this.reader = undefined;
  }

  /** Discards the body received so far and the rest of it. */
  discard(): void {
    this.discards = true;
    this.chunks.take();
    const fresh = this.received - this.consumed;
    this.consumed = this.received;
    if (fresh > 0) this.connection.consumed(this, fresh);
  }

  /** Sends the headers of the response, with all or the beginning of its body. */
  respond(status: number, headers: ResponseHeaders, parts: readonly Uint8Array[], end: boolean): void {
    if (this.closed || this.responded) return;
    this.responded = true;
    this.responseHead = { status, headers };
    for (const part of parts) this.queue(part);
    this.ended = end;
    this.connection.sendable(this);
  }

  write(chunk: Uint8Array): void {
    if (this.closed || this.ended) return;
    this.queue(chunk);
    this.connection.sendable(this);
  }

  end(trailers?: ResponseHeaders): void {
    if (this.closed || this.ended) return;
    this.ended = true;
    this.trailers = trailers;
    this.connection.sendable(this);
  }

  reset(code: ErrorCode = errorCode.internal): void {
    if (!this.closed) this.connection.reset(this, code);
  }

  sentBytes(): number {
    return this.connection.sentBytes();
  }

  goAway(atOnce?: boolean): void {
    this.connection.goAway(atOnce);
  }

  private queue(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.pending.push(chunk);
    this.pendingBytes += chunk.length;
  }

  /** Passes the next `bytes` pending bytes to `visit` and removes them. */
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
    // Sent chunks are removed in groups: removing each individually would cost as much as sending it. The array is
    // emptied rather than replaced: that of an old stream is old itself, and as garbage it would keep its last chunks
    // alive until the next major garbage collection.
    if (this.pendingBytes === 0) this.pending.length = 0;
    else if (this.pendingAt < 1000) return;
    else this.pending = this.pending.slice(this.pendingAt);
    this.pendingAt = 0;
  }

  /** Resolves when fewer than `bytes` bytes are pending, or the stream is closed. */
  drained(bytes: number): Promise<void> {
    if (this.closed || this.pendingBytes < bytes) return Promise.resolve();
    return new Promise((resolve) => (this.waiting ??= []).push(resolve));
  }

  /** Resolves `drained` promises if fewer than `bytesLeft` bytes are pending. */
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

  /** Ends receiving and sending. Called by the connection. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.complete) this.discard();
    this.pending = [];
    this.pendingBytes = 0;
    this.sent(1);
    this.bufferedBody?.resolve();
    this.reader?.reject(new IncompleteBody());
    this.reader = undefined;
    const listeners = this.listeners;
    this.listeners = undefined;
    if (listeners) for (const listener of listeners) listener();
  }
}
