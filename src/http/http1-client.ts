// An HTTP/1.1 client (RFC 9112) for short requests to few servers: connections are reused, each carries one
// exchange at a time, and a response is read whole. It costs a third of what Node's HTTP client does.
import type { Socket } from "node:net";
import { ReplyReader, type WholeReply } from "./reply-reader.ts";

export interface Http1ClientOptions {
  /** Opens a connection; it may still be connecting, but must not have discarded received bytes. */
  readonly connect: () => Promise<Socket>;
  readonly mostReplyBytes: number;
  /** Maximum number of idle connections. */
  readonly mostIdle?: number;
}

export interface Exchange {
  readonly reply: Promise<WholeReply>;
  /** Ends the exchange and its connection; the reply rejects with the error. */
  readonly abort: (error: Error) => void;
}

/**
 * Matches the number of concurrent requests: opening a connection costs more than ten exchanges on an idle
 * one.
 */
const defaultMostIdle = 256;

/** Connections idle for longer are closed when another one becomes idle. */
const longestIdleMilliseconds = 90_000;

/** A connection idle for longer may have been closed by the server, which is checked before it is used. */
const trustedMilliseconds = 100;

export class Http1Client {
  readonly #options: Http1ClientOptions;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(options: Http1ClientOptions) {
    this.#options = options;
  }

  /** Sends a request: its head with the terminating empty line, and its body. */
  send(request: string): Exchange {
    const asked = new Asked(request);
    const kept = this.#takeTrusted();
    if (kept) kept.carry(asked);
    else this.#carry(asked).catch((error: Error) => asked.fail(error));
    return asked;
  }

  /** Closes the idle connections; others are closed after their exchange. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.socket.destroy();
  }

  async #carry(asked: Asked): Promise<void> {
    const connection = (await this.#takeAny()) ?? (await this.#open(asked));
    if (!asked.settled) connection.carry(asked);
    // The exchange was aborted meanwhile: the connection is free for another.
    else if (!connection.socket.destroyed) this.#keep(connection);
  }

  async #open(asked: Asked): Promise<Connection> {
    const socket = await this.#options.connect();
    if (asked.settled) socket.destroy();
    socket.setNoDelay(true);
    return new Connection(socket, this.#options.mostReplyBytes, {
      free: (connection) => this.#keep(connection),
      ended: (connection) => this.#forget(connection),
    });
  }

  #keep(connection: Connection): void {
    if (this.#closed || this.#idle.length >= (this.#options.mostIdle ?? defaultMostIdle))
      connection.socket.destroy();
    else {
      connection.rest();
      this.#idle.push(connection);
      // The most recently used connection is reused first, so the first in the list has been idle longest.
      const oldest = this.#idle[0]!;
      if (connection.since - oldest.since > longestIdleMilliseconds) oldest.socket.destroy();
    }
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Returns the most recently used connection, if it was idle so briefly that it can be assumed open. */
  #takeTrusted(): Connection | undefined {
    const last = this.#idle.at(-1);
    return last && performance.now() - last.since <= trustedMilliseconds ? this.#idle.pop() : undefined;
  }

  /**
   * Returns an idle connection that has not been closed after a turn of the event loop. A request that was
   * sent is never sent again, since the server may have acted on it.
   */
  async #takeAny(): Promise<Connection | undefined> {
    if (this.#idle.length > 0) await new Promise((turn) => void setImmediate(turn));
    return this.#idle.pop();
  }
}

/** A request and the promise of its reply. */
class Asked implements Exchange {
  readonly request: string;
  readonly reply: Promise<WholeReply>;
  settled = false;
  /** The connection that carries the exchange. */
  socket: Socket | undefined;
  #resolve!: (reply: WholeReply) => void;
  #reject!: (error: Error) => void;

  constructor(request: string) {
    underWay++;
    this.request = request;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  readonly abort = (error: Error): void => {
    this.fail(error);
    this.socket?.destroy();
  };

  answer(reply: WholeReply): void {
    this.#settle();
    this.#resolve(reply);
  }

  fail(error: Error): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    if (!this.settled) underWay--;
    this.settled = true;
  }
}

interface Told {
  /** The connection is ready for another exchange. */
  free(connection: Connection): void;
  /** The connection is closed. */
  ended(connection: Connection): void;
}

/** The connection ended in the middle of a response body. */
export class UnfinishedBody extends Error {}

/**
 * A socket with its current exchange, if any; its listeners stay attached, since replacing them is costly.
 */
class Connection {
  readonly socket: Socket;
  /** Start of the idle period. */
  since = 0;
  readonly #mostReplyBytes: number;
  readonly #told: Told;
  #asked: Asked | undefined;
  #reader: ReplyReader | undefined;

  constructor(socket: Socket, mostReplyBytes: number, told: Told) {
    this.socket = socket;
    this.#mostReplyBytes = mostReplyBytes;
    this.#told = told;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("end", () => this.#end());
    socket.on("error", (error) => this.#break(error));
    socket.on("close", () => this.#break(new Error("socket hang up")));
  }

  carry(asked: Asked): void {
    this.#asked = asked;
    this.#reader = new ReplyReader(this.#mostReplyBytes);
    asked.socket = this.socket;
    this.socket.ref();
    this.socket.write(asked.request);
  }

  /** An idle connection does not keep the process alive. */
  rest(): void {
    this.since = performance.now();
    this.socket.unref();
  }

  #read(chunk: Buffer): void {
    // Unsolicited bytes end the connection.
    const step = this.#reader?.take(chunk) ?? new Error("unexpected bytes");
    if (step === "more") return;
    if (step instanceof Error) return this.#break(step);
    if (!step.reusable) return this.#finish(step.reply);
    const asked = this.#release();
    this.#told.free(this);
    if (asked) answerSoon(asked, step.reply);
  }

  #end(): void {
    const reply = this.#reader?.end();
    if (reply) this.#finish(reply);
    else if (this.#reader?.inBody) this.#break(new UnfinishedBody("unexpected EOF"));
    else this.#break(new Error(this.#reader?.began ? "unexpected EOF" : "EOF"));
  }

  /** Delivers the last response of this connection. */
  #finish(reply: WholeReply): void {
    const asked = this.#release();
    this.#break(new Error("EOF"));
    asked?.answer(reply);
  }

  #break(error: Error): void {
    this.socket.destroy();
    this.#told.ended(this);
    this.#release()?.fail(error);
  }

  #release(): Asked | undefined {
    const asked = this.#asked;
    if (asked) asked.socket = undefined;
    this.#asked = undefined;
    this.#reader = undefined;
    return asked;
  }
}

/** Number of unanswered exchanges of all clients. */
let underWay = 0;

/**
 * Replies that arrive in one turn are resolved after all of them have been read, so that the continuations of
 * many requests run one after the other. With 64 concurrent webhook calls, this took 164 instead of 243 µs of
 * main thread time per call. A single outstanding exchange is resolved directly, which saves a turn of the
 * event loop.
 */
let read: [Asked, WholeReply][] = [];

function answerSoon(asked: Asked, reply: WholeReply): void {
  if (underWay === 1) asked.answer(reply);
  else if (read.push([asked, reply]) === 1) setImmediate(answerAll);
}

function answerAll(): void {
  const all = read;
  read = [];
  for (const [asked, reply] of all) asked.answer(reply);
}
