// The server side of one HTTP/2 connection (RFC 9113): reads frames, enforces limits and owns the streams.
import type { Socket } from "node:net";
import { ClosedStreams } from "./closed-streams.ts";
import { FrameBudget } from "./frame-budget.ts";
import { FrameReader } from "./frame-reader.ts";
import {
  ConnectionError,
  type ErrorCode,
  acknowledgement,
  checkSetting,
  continueFrame,
  errorCode,
  flag,
  frame,
  goAwayFrame,
  initialWindowSize,
  maxFrameBytes,
  maxWindow,
  numbersFrame,
  setting,
  settingsFrame,
  unpadded,
} from "./frames.ts";
import { HeaderBlock } from "./header-block.ts";
import { CompressionError, HeaderDecoder } from "./header-decoder.ts";
import { Outbox } from "./outbox.ts";
import { RequestHead } from "./request-head.ts";
import { Stream, streamWindow } from "./stream.ts";

export interface ConnectionOptions {
  readonly maxStreams: number;
  readonly maxHeaderBytes: number;
  /** The limit on `:path` is separate: selectors can be long. */
  readonly maxTargetBytes: number;
  /** The announced SETTINGS_MAX_HEADER_LIST_SIZE, which is advisory (RFC 9113 §6.5.2). */
  readonly maxHeaderListBytes: number;
  /** Maximum time to receive the first SETTINGS frame, and to receive a complete header block. */
  readonly headersTimeoutMilliseconds: number;
  readonly idleTimeoutMilliseconds: number;
  /** Settles when the exchange is over; must not throw. */
  readonly serve: (stream: Stream) => Promise<void>;
  /** Starts an exchange, immediately or in a later turn of the event loop. */
  readonly begin: (exchange: () => void, method: string, path: string) => void;
  readonly onClose: () => void;
  /** Called with an unexpected exception: the connection is closed, the process continues. */
  readonly onInternalError: (error: Error) => void;
}

const connectionWindow = 16 * 1024 * 1024;
/**
 * Handlers of streams that the client reset keep running until they notice. If there are more of them than
 * this times the stream limit, the client is not interested in responses at all (CVE-2023-44487).
 */
const abandonedPerStream = 4;
/** Maximum size and duration of the rest of a request after its response was sent. */
const lateBodyBytes = 16 * 1024 * 1024;
const lateBodyMilliseconds = 5_000;
/** A complete response is dropped if the client has not read any of it for this time. */
const stalledMilliseconds = 150_000;
/** Maximum time a client has to read the final GOAWAY. */
const lingerMilliseconds = 1_000;

export class Connection {
  private readonly options: ConnectionOptions;
  private readonly socket: Socket;
  private readonly outbox: Outbox;
  private readonly decoder = new HeaderDecoder();
  private readonly budget = new FrameBudget(() => this.outbox.answeredFrames());
  private readonly streams = new Map<number, Stream>();
  private readonly closedStreams = new ClosedStreams();
  private readonly idleTimer: NodeJS.Timeout;
  private readonly stallTimer: NodeJS.Timeout;
  private headersTimer: NodeJS.Timeout | undefined;

  /** The highest stream id opened by the client. */
  private lastStream = 0;
  /** Number of running handlers, including those of streams that were reset. */
  private running = 0;
  private receiveWindow = connectionWindow;
  /** Consumed bytes not returned by a WINDOW_UPDATE yet. */
  private unacknowledged = 0;
  private initialSendWindow = initialWindowSize;
  private shutdown: "no" | "announced" | "final" = "no";
  private closed = false;
  readonly sentBytes = (): number => this.outbox.sentBytes;
  /** An incomplete header block: only CONTINUATION frames may follow. */
  private block: HeaderBlock | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.options = options;
    this.socket = socket;
    this.outbox = new Outbox(
      socket,
      (stream) => this.onResponseSent(stream),
      (stream, error) => {
        options.onInternalError(error);
        stream.reset(errorCode.internal);
      },
    );
    const reader = new FrameReader((type, flags, id, payload) => this.onFrame(type, flags, id, payload));
    const settings = {
      [setting.maxStreams]: options.maxStreams,
      [setting.initialWindow]: streamWindow,
      [setting.maxFrame]: maxFrameBytes,
      [setting.maxHeaderList]: options.maxHeaderListBytes,
    };
    this.outbox.add(settingsFrame(settings));
    this.outbox.add(numbersFrame(frame.windowUpdate, 0, connectionWindow - initialWindowSize));
    this.idleTimer = setTimeout(() => this.onIdle(), options.idleTimeoutMilliseconds).unref();
    this.stallTimer = setInterval(() => this.dropStalled(), stalledMilliseconds).unref();
    this.startHeadersTimer();
    socket.on("data", (bytes: Buffer) => this.read(reader, bytes));
    socket.on("drain", () => {
      if (socket.isPaused()) socket.resume();
      this.outbox.flush();
    });
    socket.on("close", () => this.close());
    // HTTP/2 has no half-closed connections: a client that ends its side is done.
    socket.on("end", () => this.destroy());
  }

  private read(reader: FrameReader, bytes: Buffer): void {
    if (this.closed) return;
    try {
      reader.read(bytes);
    } catch (error) {
      if (error instanceof ConnectionError) this.fail(error.code, error.message);
      else if (error instanceof CompressionError) this.fail(errorCode.compression, error.message);
      else {
        this.options.onInternalError(error as Error);
        this.fail(errorCode.internal, "internal error");
      }
    }
    this.outbox.pauseIfBacklogged();
  }

  private onFrame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.closed) return;
    if (this.block && (type !== frame.continuation || id !== this.block.stream))
      throw new ConnectionError(errorCode.protocol, "a header block is interrupted by another frame");
    switch (type) {
      case frame.data:
        return this.onData(flags, id, payload);
      case frame.headers:
        return this.onHeaders(flags, id, payload);
      case frame.continuation:
        return this.onContinuation(flags, payload);
      case frame.windowUpdate:
        return this.onWindowUpdate(id, payload);
      case frame.rstStream:
        return this.onRstStream(id, payload);
      case frame.settings:
        return this.onSettings(flags, id, payload);
      case frame.ping:
        return this.onPing(flags, id, payload);
      case frame.priority:
        return this.onPriority(id, payload);
      case frame.goAway:
        return this.onGoAway(id, payload);
      case frame.pushPromise:
        throw new ConnectionError(errorCode.protocol, "PUSH_PROMISE from a client");
      default:
        // Unknown types must be ignored (RFC 9113 §5.5).
        return this.budget.charge();
    }
  }

  private onHeaders(flags: number, id: number, payload: Buffer): void {
    if (id % 2 === 0) throw new ConnectionError(errorCode.protocol, `HEADERS on stream ${id}`);
    let fragment = unpadded(flags, payload);
    if (flags & flag.priority) {
      if (fragment.length < 5) throw new ConnectionError(errorCode.frameSize, "HEADERS is too short");
      if ((fragment.readUInt32BE(0) & maxWindow) === id)
        throw new ConnectionError(errorCode.protocol, `stream ${id} depends on itself`);
      fragment = fragment.subarray(5);
    }
    const stream = this.streams.get(id);
    if (!stream && id <= this.lastStream) this.checkClosed(id);
    const endStream = (flags & flag.endStream) !== 0;
    if (stream && !endStream)
      throw new ConnectionError(errorCode.protocol, "a second HEADERS without END_STREAM");
    if (flags & flag.endHeaders) return this.onHeaderBlock(id, fragment, endStream);
    // Up to twice the field limit is read, so that a request slightly above it can be answered with 431.
    const { maxHeaderBytes, maxTargetBytes } = this.options;
    this.block = new HeaderBlock(id, endStream, maxHeaderBytes * 2 + maxTargetBytes);
    this.block.add(fragment);
    this.startHeadersTimer();
  }

  /** Checks HEADERS on a stream that is not open: only allowed while our reset of it may be in flight. */
  private checkClosed(id: number): void {
    const how = this.closedStreams.get(id);
    if (how === "reset by server") return;
    throw how
      ? new ConnectionError(errorCode.streamClosed, `HEADERS on stream ${id}, which is closed`)
      : new ConnectionError(errorCode.protocol, `stream ${id} is lower than one opened before`);
  }

  private onContinuation(flags: number, payload: Buffer): void {
    const { block } = this;
    if (!block) throw new ConnectionError(errorCode.protocol, "CONTINUATION without a header block");
    if (payload.length === 0) this.budget.charge();
    block.add(payload);
    if (!(flags & flag.endHeaders)) return;
    this.block = undefined;
    this.stopHeadersTimer();
    this.onHeaderBlock(block.stream, block.bytes, block.endStream);
  }

  private onHeaderBlock(id: number, block: Buffer, endStream: boolean): void {
    const head = new RequestHead(this.options.maxHeaderBytes, this.options.maxTargetBytes);
    this.decoder.decode(block, (field) => head.add(field));
    const known = this.streams.get(id);
    if (known) return this.onTrailers(known, head);
    if (id <= this.lastStream) return this.budget.charge();
    this.lastStream = id;
    if (this.shutdown === "final") return;
    if (this.streams.size >= this.options.maxStreams) return this.sendReset(id, errorCode.refusedStream);
    if (this.running >= this.options.maxStreams * abandonedPerStream)
      throw new ConnectionError(errorCode.enhanceYourCalm, "too many streams were reset by the client");
    const stream = new Stream(this, id, head.finish(), this.initialSendWindow);
    if (head.malformed !== undefined && !head.tooLarge) {
      this.budget.charge();
      return this.sendReset(id, errorCode.protocol);
    }
    this.streams.set(id, stream);
    if (endStream && !stream.finish()) return this.reset(stream, errorCode.protocol);
    this.running++;
    this.options.begin(() => void this.serve(stream), head.method, head.target);
  }

  private onTrailers(stream: Stream, head: RequestHead): void {
    if (head.hasPseudoHeaders || head.malformed !== undefined) this.reset(stream, errorCode.protocol);
    else this.onEndStream(stream, stream.complete ? errorCode.streamClosed : errorCode.protocol);
  }

  private async serve(stream: Stream): Promise<void> {
    if (!stream.closed) await this.options.serve(stream);
    this.running--;
  }

  private onData(flags: number, id: number, payload: Buffer): void {
    if (id === 0) throw new ConnectionError(errorCode.protocol, "DATA on stream 0");
    if (id > this.lastStream)
      throw new ConnectionError(errorCode.protocol, `DATA on stream ${id}, which is idle`);
    this.receiveWindow -= payload.length;
    if (this.receiveWindow < 0)
      throw new ConnectionError(errorCode.flowControl, "DATA exceeds the connection's window");
    const chunk = unpadded(flags, payload);
    const endStream = (flags & flag.endStream) !== 0;
    if (chunk.length === 0 && !endStream) this.budget.charge();
    const stream = this.streams.get(id);
    if (!stream) return this.onDataOfClosed(id, payload.length);
    stream.receiveWindow -= payload.length;
    if (stream.receiveWindow < 0) return this.refuseData(stream, payload.length, errorCode.flowControl);
    if (stream.complete) return this.refuseData(stream, payload.length, errorCode.streamClosed);
    if (payload.length > chunk.length) this.consumed(stream, payload.length - chunk.length);
    if (!stream.receive(chunk)) return this.refuseData(stream, chunk.length, errorCode.protocol);
    if (stream.responseSent && stream.received > lateBodyBytes) return this.reset(stream, errorCode.none);
    if (endStream) this.onEndStream(stream, errorCode.protocol);
  }

  /** Drops DATA that was in flight when its stream was reset; on other closed streams it is an error. */
  private onDataOfClosed(id: number, bytes: number): void {
    this.consumed(undefined, bytes);
    if (this.closedStreams.get(id) === "reset by server") return;
    this.budget.charge();
    this.sendReset(id, errorCode.streamClosed);
  }

  private refuseData(stream: Stream, bytes: number, code: ErrorCode): void {
    this.consumed(undefined, bytes);
    this.reset(stream, code);
  }

  /** Handles the end of a request; if it must not end here or like this, its stream is reset. */
  private onEndStream(stream: Stream, code: ErrorCode): void {
    if (stream.complete || !stream.finish()) this.reset(stream, code);
    else if (stream.responseSent) this.removeStream(stream, "complete");
  }

  private onWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionError(errorCode.frameSize, "WINDOW_UPDATE is not 4 bytes");
    const increment = payload.readUInt32BE(0) & maxWindow;
    if (id === 0) {
      if (increment === 0) throw new ConnectionError(errorCode.protocol, "WINDOW_UPDATE by 0");
      if (this.outbox.window + increment > maxWindow)
        throw new ConnectionError(errorCode.flowControl, "the connection's window is too large");
      this.outbox.window += increment;
      return this.outbox.schedule();
    }
    const stream = this.streams.get(id);
    if (!stream) {
      if (id > this.lastStream)
        throw new ConnectionError(errorCode.protocol, `WINDOW_UPDATE on stream ${id}, which is idle`);
      return this.budget.charge();
    }
    if (increment === 0) return this.reset(stream, errorCode.protocol);
    if (stream.sendWindow + increment > maxWindow) return this.reset(stream, errorCode.flowControl);
    stream.sendWindow += increment;
    this.outbox.sendable(stream);
  }

  private onRstStream(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionError(errorCode.frameSize, "RST_STREAM is not 4 bytes");
    if (id === 0 || id > this.lastStream)
      throw new ConnectionError(errorCode.protocol, `RST_STREAM on stream ${id}, which is idle`);
    this.budget.charge();
    const stream = this.streams.get(id);
    if (stream) this.removeStream(stream, "reset by client");
  }

  private onSettings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(errorCode.protocol, `SETTINGS on stream ${id}`);
    if (flags & flag.ack) {
      if (payload.length > 0)
        throw new ConnectionError(errorCode.frameSize, "an acknowledgement of SETTINGS has a payload");
      return this.budget.charge();
    }
    if (payload.length % 6 !== 0)
      throw new ConnectionError(errorCode.frameSize, "the length of SETTINGS is not a multiple of 6");
    this.stopHeadersTimer();
    this.budget.charge();
    for (let at = 0; at < payload.length; at += 6)
      this.onSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.outbox.add(acknowledgement(frame.settings, payload.subarray(0, 0)));
  }

  private onSetting(name: number, value: number): void {
    checkSetting(name, value);
    if (name !== setting.initialWindow) return;
    const change = value - this.initialSendWindow;
    this.initialSendWindow = value;
    for (const stream of this.streams.values()) {
      stream.sendWindow += change;
      if (stream.sendWindow > maxWindow)
        throw new ConnectionError(errorCode.flowControl, `the window of stream ${stream.id} is too large`);
      if (change > 0) this.outbox.sendable(stream);
    }
  }

  private onPing(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(errorCode.protocol, `PING on stream ${id}`);
    if (payload.length !== 8) throw new ConnectionError(errorCode.frameSize, "PING is not 8 bytes");
    this.budget.charge();
    if (!(flags & flag.ack)) this.outbox.add(acknowledgement(frame.ping, payload));
    else this.finishShutdown();
  }

  /** Priorities are ignored, as RFC 9113 §5.3.2 allows; the frames must be well-formed nevertheless. */
  private onPriority(id: number, payload: Buffer): void {
    if (id === 0) throw new ConnectionError(errorCode.protocol, "PRIORITY on stream 0");
    this.budget.charge();
    if (payload.length === 5 && (payload.readUInt32BE(0) & maxWindow) !== id) return;
    const code = payload.length === 5 ? errorCode.protocol : errorCode.frameSize;
    const stream = this.streams.get(id);
    if (stream) return this.reset(stream, code);
    if (id > this.lastStream) throw new ConnectionError(code, `malformed PRIORITY on stream ${id}`);
    this.sendReset(id, code);
  }

  private onGoAway(id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(errorCode.protocol, `GOAWAY on stream ${id}`);
    if (payload.length < 8) throw new ConnectionError(errorCode.frameSize, "GOAWAY is too short");
    this.budget.charge();
    this.goAway();
  }

  /** Returns flow control window for body bytes that were read or dropped, in updates large enough. */
  consumed(stream: Stream | undefined, bytes: number): void {
    this.receiveWindow += bytes;
    this.unacknowledged += bytes;
    if (this.unacknowledged >= connectionWindow / 4 && !this.closed) {
      this.outbox.add(numbersFrame(frame.windowUpdate, 0, this.unacknowledged));
      this.unacknowledged = 0;
    }
    if (!stream || stream.complete || stream.closed) return;
    stream.unacknowledged += bytes;
    if (stream.unacknowledged < streamWindow / 4) return;
    stream.receiveWindow += stream.unacknowledged;
    this.outbox.add(numbersFrame(frame.windowUpdate, stream.id, stream.unacknowledged));
    stream.unacknowledged = 0;
  }

  /** Sends 100 (Continue). */
  sendContinue(stream: Stream): void {
    this.outbox.add(continueFrame(stream.id));
  }

  sendable(stream: Stream): void {
    this.outbox.sendable(stream);
  }

  /** Ends an open stream with RST_STREAM. */
  reset(stream: Stream, code: ErrorCode): void {
    this.sendReset(stream.id, code);
    this.removeStream(stream, stream.complete ? "complete" : "reset by server");
  }

  /** Sends RST_STREAM for a stream that is not open. */
  private sendReset(id: number, code: ErrorCode): void {
    if (!this.streams.has(id) && code !== errorCode.streamClosed)
      this.closedStreams.add(id, "reset by server");
    this.outbox.add(numbersFrame(frame.rstStream, id, code));
  }

  /**
   * Called when the response has been sent. The rest of the request is discarded, but clients that would lose
   * the response on RST_STREAM get some time to finish sending.
   */
  private onResponseSent(stream: Stream): void {
    if (stream.complete) return this.removeStream(stream, "complete");
    stream.discard();
    const timer = setTimeout(() => stream.reset(errorCode.none), lateBodyMilliseconds).unref();
    stream.onClose(() => clearTimeout(timer));
  }

  private removeStream(stream: Stream, how: "complete" | "reset by client" | "reset by server"): void {
    if (!this.streams.delete(stream.id)) return;
    this.closedStreams.add(stream.id, how);
    this.outbox.remove(stream);
    stream.close();
    if (this.streams.size > 0) return;
    this.idleTimer.refresh();
    if (this.shutdown === "final") this.closeAfterFlush();
  }

  /** Sends GOAWAY; streams opened before the client receives it are served, unless `immediately` is set. */
  goAway(immediately = false): void {
    if (immediately && this.shutdown === "no") this.shutdown = "announced";
    if (immediately) return this.finishShutdown();
    if (this.shutdown !== "no" || this.closed) return;
    this.shutdown = "announced";
    this.outbox.add(goAwayFrame(maxWindow, errorCode.none));
    this.outbox.add(numbersFrame(frame.ping, 0, 0, 0));
    setTimeout(() => this.finishShutdown(), this.options.headersTimeoutMilliseconds).unref();
  }

  private finishShutdown(): void {
    if (this.shutdown !== "announced" || this.closed) return;
    this.shutdown = "final";
    this.outbox.add(goAwayFrame(this.lastStream, errorCode.none));
    if (this.streams.size === 0) this.closeAfterFlush();
  }

  private onIdle(): void {
    if (this.streams.size === 0) this.goAway();
  }

  /** Resets streams whose complete response is not read by the client; streamed ones limit themselves. */
  private dropStalled(): void {
    for (const stream of this.streams.values()) {
      if (!stream.ended || stream.pendingBytes === 0) continue;
      if (stream.pendingBytes === stream.pendingBefore) this.reset(stream, errorCode.enhanceYourCalm);
      else stream.pendingBefore = stream.pendingBytes;
    }
  }

  private fail(code: ErrorCode, message: string): void {
    if (this.closed) return;
    this.outbox.add(goAwayFrame(this.lastStream, code, message));
    this.closeAfterFlush();
    this.close();
  }

  /** Drains the socket before it is closed: closing it at once could discard our last frames. */
  private closeAfterFlush(): void {
    this.outbox.flush();
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), lingerMilliseconds).unref();
  }

  /** Closes the connection immediately. */
  destroy(): void {
    this.socket.destroy();
    this.close();
  }

  private close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.idleTimer);
    clearInterval(this.stallTimer);
    clearTimeout(this.headersTimer);
    this.outbox.close();
    for (const stream of this.streams.values()) stream.close();
    this.streams.clear();
    this.options.onClose();
  }

  private startHeadersTimer(): void {
    this.headersTimer ??= setTimeout(() => this.destroy(), this.options.headersTimeoutMilliseconds).unref();
  }

  private stopHeadersTimer(): void {
    clearTimeout(this.headersTimer);
    this.headersTimer = undefined;
  }
}
