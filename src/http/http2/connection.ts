// One HTTP/2 connection from a client: its frames, its limits, and the order in which answers leave.
import type { Socket } from "node:net";
import { CompressionFault, HeaderDecoder } from "./header-decoder.ts";
import { FrameReader } from "./frame-reader.ts";
import {
  ConnectionFault,
  type Fault,
  acknowledgement,
  continueFrame,
  fault,
  flag,
  frame,
  frameBytes,
  largestWindow,
  numbersFrame,
  setting,
  settingsFrame,
  startWindow,
  writeHead,
} from "./frames.ts";
import { Outbox } from "./outbox.ts";
import { RequestHead } from "./request-head.ts";
import { Stream, receiveWindow } from "./stream.ts";

export interface ConnectionOptions {
  readonly maxStreams: number;
  readonly maxHeaderBytes: number;
  /** What is asked for counts apart: selectors can be long. */
  readonly maxTargetBytes: number;
  /** How long the beginning of a connection, or of a request, may take to come. */
  readonly headersTimeoutMilliseconds: number;
  readonly idleTimeoutMilliseconds: number;
  /** Settles when the exchange is over; must not throw. */
  readonly serve: (stream: Stream) => Promise<void>;
  /** Begins an exchange, now or soon. */
  readonly begin: (exchange: () => void) => void;
  readonly onClose: () => void;
  /** Told of mistakes of our own: the connection is lost, the program lives on. */
  readonly onProblem: (error: Error) => void;
}

const connectionWindow = 16 * 1024 * 1024;
/** Frames that make work and bring nothing: so many at once, and so many more each second. */
const patience = { most: 10_000, perSecond: 1_000 };
/**
 * Exchanges that clients gave up go on until they notice; beyond this the client is not waiting for answers
 * at all.
 */
const abandonedPerStream = 4;
const mostCutOff = 100;
/** How much of a request may come, and how long, after its answer. */
const patienceBytes = 16 * 1024 * 1024;
const patienceMilliseconds = 5_000;
/** An answer of which the client takes nothing for this long is given up. */
const stalledMilliseconds = 150_000;
/** How long a client may take to read our last words. */
const lastWordsMilliseconds = 1_000;

export class Connection {
  private readonly options: ConnectionOptions;
  private readonly socket: Socket;
  private readonly outbox: Outbox;
  private readonly decoder = new HeaderDecoder();
  private readonly streams = new Map<number, Stream>();
  private readonly idle: NodeJS.Timeout;
  private readonly looks: NodeJS.Timeout;
  private beginning: NodeJS.Timeout | undefined;

  /** The highest stream seen. */
  private last = 0;
  private running = 0;
  /** Streams that we ended in the middle of the request: more of it may still be under way. */
  private readonly cutOff = new Set<number>();
  private room = connectionWindow;
  private unread = 0;
  private initialWindow = startWindow;
  private leaving: "no" | "asked" | "last" = "no";
  private gone = false;
  private patience = patience.most;
  private patienceAt = performance.now();

  /** A header block under way: CONTINUATION frames follow and nothing else. */
  private block:
    | { readonly id: number; readonly parts: Buffer[]; readonly end: boolean; bytes: number }
    | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.options = options;
    this.socket = socket;
    this.outbox = new Outbox(socket, (stream) => this.finished(stream));
    const reader = new FrameReader((type, flags, id, payload) => this.frame(type, flags, id, payload));
    const settings = {
      [setting.maxStreams]: options.maxStreams,
      [setting.initialWindow]: receiveWindow,
      [setting.maxHeaderList]: options.maxHeaderBytes + options.maxTargetBytes,
    };
    this.outbox.add(settingsFrame(settings));
    this.outbox.add(numbersFrame(frame.windowUpdate, 0, connectionWindow - startWindow));
    this.idle = setTimeout(() => this.onIdle(), options.idleTimeoutMilliseconds).unref();
    this.looks = setInterval(() => this.lookForStalled(), stalledMilliseconds).unref();
    this.expectSoon();
    socket.on("data", (bytes: Buffer) => this.read(reader, bytes));
    socket.on("drain", () => {
      if (socket.isPaused()) socket.resume();
      this.outbox.flush();
    });
    socket.on("close", () => this.close());
    // A client that ends its side has nothing more to say; HTTP/2 knows no half-closed connections.
    socket.on("end", () => this.destroy());
  }

  private read(reader: FrameReader, bytes: Buffer): void {
    if (this.gone) return;
    try {
      reader.read(bytes);
    } catch (error) {
      if (error instanceof ConnectionFault) this.fail(error.code, error.message);
      else if (error instanceof CompressionFault) this.fail(fault.compression, error.message);
      else {
        this.options.onProblem(error as Error);
        this.fail(fault.internal, "this should not have happened");
      }
    }
    this.outbox.backlogged();
  }

  private frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.gone) return;
    if (this.block && (type !== frame.continuation || id !== this.block.id))
      throw new ConnectionFault(fault.protocol, "a header block is interrupted");
    switch (type) {
      case frame.data:
        return this.onData(flags, id, payload);
      case frame.headers:
        return this.onHeaders(flags, id, payload);
      case frame.continuation:
        return this.onContinuation(flags, payload);
      case frame.windowUpdate:
        return this.onWindowUpdate(id, payload);
      case frame.reset:
        return this.onReset(id, payload);
      case frame.settings:
        return this.onSettings(flags, id, payload);
      case frame.ping:
        return this.onPing(flags, id, payload);
      case frame.priority:
        return this.onPriority(id, payload);
      case frame.goAway:
        if (id !== 0) throw new ConnectionFault(fault.protocol, "GOAWAY on a stream");
        if (payload.length < 8) throw new ConnectionFault(fault.frameSize, "GOAWAY is too short");
        return this.leave();
      case frame.pushPromise:
        throw new ConnectionFault(fault.protocol, "a client cannot push");
      default:
        // Types that nobody knows yet are to be ignored.
        return this.spendPatience();
    }
  }

  private onHeaders(flags: number, id: number, payload: Buffer): void {
    if (id % 2 === 0) throw new ConnectionFault(fault.protocol, `clients open odd streams, not ${id}`);
    let fragment = unpadded(flags, payload);
    if (flags & flag.priority) {
      if (fragment.length < 5) throw new ConnectionFault(fault.frameSize, "HEADERS is too short");
      if ((fragment.readUInt32BE(0) & largestWindow) === id)
        throw new ConnectionFault(fault.protocol, "a stream cannot depend on itself");
      fragment = fragment.subarray(5);
    }
    const stream = this.streams.get(id);
    if (!stream && id <= this.last && !this.cutOff.has(id))
      throw new ConnectionFault(fault.streamClosed, `stream ${id} was closed before`);
    const end = (flags & flag.endStream) !== 0;
    if (stream && !end) throw new ConnectionFault(fault.protocol, "trailers must end the request");
    if (flags & flag.endHeaders) return this.onBlock(id, fragment, end);
    this.block = { id, parts: [fragment], end, bytes: fragment.length };
    this.expectSoon();
  }

  private onContinuation(flags: number, payload: Buffer): void {
    const { block } = this;
    if (!block) throw new ConnectionFault(fault.protocol, "CONTINUATION of nothing");
    if (payload.length === 0) this.spendPatience();
    block.bytes += payload.length;
    // A block of twice the size is read, so that the answer can say what is wrong; nobody sends more by
    // mistake.
    if (block.bytes > this.options.maxHeaderBytes * 2 + this.options.maxTargetBytes)
      throw new ConnectionFault(fault.calm, "the headers are too large");
    block.parts.push(payload);
    if (!(flags & flag.endHeaders)) return;
    this.block = undefined;
    this.arrived();
    this.onBlock(block.id, Buffer.concat(block.parts), block.end);
  }

  private onBlock(id: number, block: Buffer, end: boolean): void {
    const head = new RequestHead(this.options.maxHeaderBytes, this.options.maxTargetBytes);
    this.decoder.decode(block, (field) => head.add(field));
    const known = this.streams.get(id);
    if (known)
      return head.method || head.target
        ? this.reset(known, fault.protocol)
        : this.onEnd(known, known.complete ? fault.streamClosed : fault.protocol);
    if (id <= this.last) return this.spendPatience();
    this.last = id;
    if (this.leaving === "last") return;
    if (this.streams.size >= this.options.maxStreams)
      return this.outbox.add(numbersFrame(frame.reset, id, fault.refused));
    if (this.running >= this.options.maxStreams * abandonedPerStream)
      throw new ConnectionFault(fault.calm, "too many requests were abandoned");
    const stream = new Stream(this, id, head.finish(), this.initialWindow);
    if (head.malformed !== undefined && !head.tooLarge) {
      this.spendPatience();
      return this.outbox.add(numbersFrame(frame.reset, id, fault.protocol));
    }
    this.streams.set(id, stream);
    if (end && !stream.finish()) return this.reset(stream, fault.protocol);
    this.running++;
    this.options.begin(() => void this.serve(stream));
  }

  private async serve(stream: Stream): Promise<void> {
    if (!stream.closed) await this.options.serve(stream);
    this.running--;
  }

  private onData(flags: number, id: number, payload: Buffer): void {
    if (id === 0) throw new ConnectionFault(fault.protocol, "DATA without a stream");
    if (id > this.last) throw new ConnectionFault(fault.protocol, `DATA on stream ${id}, which is not open`);
    this.room -= payload.length;
    if (this.room < 0)
      throw new ConnectionFault(fault.flowControl, "more bytes than the connection has room for");
    const chunk = unpadded(flags, payload);
    const end = (flags & flag.endStream) !== 0;
    if (chunk.length === 0 && !end) this.spendPatience();
    const stream = this.streams.get(id);
    if (!stream) return this.consumed(undefined, payload.length);
    stream.room -= payload.length;
    if (stream.room < 0) return this.refuseData(stream, payload.length, fault.flowControl);
    if (stream.complete) return this.refuseData(stream, payload.length, fault.streamClosed);
    if (payload.length > chunk.length) this.consumed(stream, payload.length - chunk.length);
    if (!stream.receive(chunk)) return this.refuseData(stream, chunk.length, fault.protocol);
    if (stream.answered && stream.received > patienceBytes) return this.reset(stream, fault.none);
    if (end) this.onEnd(stream, fault.protocol);
  }

  private refuseData(stream: Stream, bytes: number, code: Fault): void {
    this.consumed(undefined, bytes);
    this.reset(stream, code);
  }

  /** The request has ended; if it may not end here or like this, the stream is lost. */
  private onEnd(stream: Stream, code: Fault): void {
    if (stream.complete || !stream.finish()) this.reset(stream, code);
    else if (stream.answered) this.forget(stream);
  }

  private onWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionFault(fault.frameSize, "WINDOW_UPDATE has four bytes");
    const more = payload.readUInt32BE(0) & largestWindow;
    if (id === 0) {
      if (more === 0) throw new ConnectionFault(fault.protocol, "WINDOW_UPDATE by nothing");
      if (this.outbox.window + more > largestWindow)
        throw new ConnectionFault(fault.flowControl, "the connection's window is too large");
      this.outbox.window += more;
      return this.outbox.schedule();
    }
    const stream = this.streams.get(id);
    if (!stream) {
      if (id > this.last)
        throw new ConnectionFault(fault.protocol, `WINDOW_UPDATE on stream ${id}, which is not open`);
      return;
    }
    if (more === 0) return this.reset(stream, fault.protocol);
    if (stream.window + more > largestWindow) return this.reset(stream, fault.flowControl);
    stream.window += more;
    this.outbox.sendable(stream);
  }

  private onReset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionFault(fault.frameSize, "RST_STREAM has four bytes");
    if (id === 0 || id > this.last)
      throw new ConnectionFault(fault.protocol, `RST_STREAM on stream ${id}, which is not open`);
    this.spendPatience();
    const stream = this.streams.get(id);
    if (stream) this.forget(stream);
  }

  private onSettings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionFault(fault.protocol, "SETTINGS on a stream");
    if (flags & flag.ack) {
      if (payload.length > 0) throw new ConnectionFault(fault.frameSize, "an acknowledgement says nothing");
      return;
    }
    if (payload.length % 6 !== 0) throw new ConnectionFault(fault.frameSize, "SETTINGS is cut off");
    this.arrived();
    this.spendPatience();
    for (let at = 0; at < payload.length; at += 6)
      this.onSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.outbox.add(acknowledgement(frame.settings, payload.subarray(0, 0)));
  }

  private onSetting(name: number, value: number): void {
    if (name === setting.enablePush && value > 1)
      throw new ConnectionFault(fault.protocol, "ENABLE_PUSH is 0 or 1");
    if (name === setting.maxFrame && (value < frameBytes || value > 0xff_ffff))
      throw new ConnectionFault(fault.protocol, `no frame has at most ${value} bytes`);
    if (name !== setting.initialWindow) return;
    if (value > largestWindow)
      throw new ConnectionFault(fault.flowControl, "the initial window is too large");
    const change = value - this.initialWindow;
    this.initialWindow = value;
    for (const stream of this.streams.values()) {
      stream.window += change;
      if (stream.window > largestWindow)
        throw new ConnectionFault(fault.flowControl, "a stream's window is too large");
      if (change > 0) this.outbox.sendable(stream);
    }
  }

  private onPing(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionFault(fault.protocol, "PING on a stream");
    if (payload.length !== 8) throw new ConnectionFault(fault.frameSize, "PING has eight bytes");
    if (!(flags & flag.ack)) {
      this.spendPatience();
      this.outbox.add(acknowledgement(frame.ping, payload));
    } else this.leaveForGood();
  }

  private onPriority(id: number, payload: Buffer): void {
    if (id === 0) throw new ConnectionFault(fault.protocol, "PRIORITY without a stream");
    this.spendPatience();
    if (payload.length === 5 && (payload.readUInt32BE(0) & largestWindow) !== id) return;
    const stream = this.streams.get(id);
    const code = payload.length === 5 ? fault.protocol : fault.frameSize;
    if (stream) this.reset(stream, code);
    else this.outbox.add(numbersFrame(frame.reset, id, code));
  }

  /**
   * Bytes of a body were taken or dropped: the client may send as many again, told when it is worth a frame.
   */
  consumed(stream: Stream | undefined, bytes: number): void {
    this.room += bytes;
    this.unread += bytes;
    if (this.unread >= connectionWindow / 4 && !this.gone) {
      this.outbox.add(numbersFrame(frame.windowUpdate, 0, this.unread));
      this.unread = 0;
    }
    if (!stream || stream.complete || stream.closed) return;
    stream.owed += bytes;
    if (stream.owed < receiveWindow / 4) return;
    stream.room += stream.owed;
    this.outbox.add(numbersFrame(frame.windowUpdate, stream.id, stream.owed));
    stream.owed = 0;
  }

  /** Tells a client that waits with its body to send it. */
  askForBody(stream: Stream): void {
    this.outbox.add(continueFrame(stream.id));
  }

  sendable(stream: Stream): void {
    this.outbox.sendable(stream);
  }

  reset(stream: Stream, code: Fault): void {
    if (!stream.complete) this.cutOff.add(stream.id);
    if (this.cutOff.size > mostCutOff) this.cutOff.delete(this.cutOff.values().next().value!);
    this.outbox.add(numbersFrame(frame.reset, stream.id, code));
    this.forget(stream);
  }

  /**
   * The answer is out. Nobody will read what is left of the request, but some clients lose an answer that
   * comes with a request to stop: they may finish, if it does not take too long.
   */
  private finished(stream: Stream): void {
    if (stream.complete) return this.forget(stream);
    stream.discard();
    const timer = setTimeout(() => stream.reset(fault.none), patienceMilliseconds).unref();
    stream.onClose(() => clearTimeout(timer));
  }

  private forget(stream: Stream): void {
    if (!this.streams.delete(stream.id)) return;
    this.outbox.forget(stream);
    stream.close();
    if (this.streams.size > 0) return;
    this.idle.refresh();
    if (this.leaving === "last") this.hangUp();
  }

  /**
   * Asks the client to open its next stream elsewhere. What it has sent until it hears of this is still
   * served.
   */
  leave(): void {
    if (this.leaving !== "no" || this.gone) return;
    this.leaving = "asked";
    this.outbox.add(numbersFrame(frame.goAway, 0, largestWindow, fault.none));
    this.outbox.add(numbersFrame(frame.ping, 0, 0, 0));
    // Whoever does not answer is not waited for.
    setTimeout(() => this.leaveForGood(), this.options.headersTimeoutMilliseconds).unref();
  }

  private leaveForGood(): void {
    if (this.leaving !== "asked" || this.gone) return;
    this.leaving = "last";
    this.outbox.add(numbersFrame(frame.goAway, 0, this.last, fault.none));
    if (this.streams.size === 0) this.hangUp();
  }

  private onIdle(): void {
    if (this.streams.size === 0) this.leave();
  }

  /**
   * Answers that are complete but for the client's reading hold memory that is nobody's concern but theirs;
   * streams that go on look after themselves.
   */
  private lookForStalled(): void {
    for (const stream of this.streams.values()) {
      if (!stream.ended || stream.pendingBytes === 0) continue;
      if (stream.pendingBytes === stream.pendingBefore) this.reset(stream, fault.calm);
      else stream.pendingBefore = stream.pendingBytes;
    }
  }

  private fail(code: Fault, message: string): void {
    if (this.gone) return;
    const said = Buffer.from(message);
    const made = Buffer.concat([numbersFrame(frame.goAway, 0, this.last, code), said]);
    writeHead(made, 0, 8 + said.length, frame.goAway, 0, 0);
    this.outbox.add(made);
    this.hangUp();
    this.close();
  }

  /** What still comes is not listened to, but taken: otherwise our last words would be lost on the way. */
  private hangUp(): void {
    this.outbox.flush();
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), lastWordsMilliseconds).unref();
  }

  /** Ends the connection now. */
  destroy(): void {
    this.socket.destroy();
    this.close();
  }

  private close(): void {
    if (this.gone) return;
    this.gone = true;
    clearTimeout(this.idle);
    clearInterval(this.looks);
    clearTimeout(this.beginning);
    this.outbox.close();
    for (const stream of this.streams.values()) stream.close();
    this.streams.clear();
    this.options.onClose();
  }

  private expectSoon(): void {
    this.beginning ??= setTimeout(() => this.destroy(), this.options.headersTimeoutMilliseconds).unref();
  }

  private arrived(): void {
    clearTimeout(this.beginning);
    this.beginning = undefined;
  }

  private spendPatience(): void {
    if (--this.patience > 0) return;
    const now = performance.now();
    this.patience = Math.min(patience.most, ((now - this.patienceAt) / 1000) * patience.perSecond);
    this.patienceAt = now;
    if (this.patience < 1) throw new ConnectionFault(fault.calm, "too many frames that bring nothing");
  }
}

/** The payload without its padding. */
function unpadded(flags: number, payload: Buffer): Buffer {
  if (!(flags & flag.padded)) return payload;
  const padding = payload.length > 0 ? payload[0]! : 0;
  if (padding >= payload.length)
    throw new ConnectionFault(fault.protocol, "there is more padding than payload");
  return payload.subarray(1, payload.length - padding);
}
