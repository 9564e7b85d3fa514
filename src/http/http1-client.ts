// An HTTP/1.1 client (RFC 9112) for short requests to few servers: connections are reused, each carries one
// exchange at a time, and a response is read whole. It costs a third of what Node's HTTP client does.
import type { Socket } from "node:net";
import { type Clock, systemClock } from "#base";
import { ReplyBatch } from "./reply-batch.ts";
import { ReplyReader, type WholeReply } from "./reply-reader.ts";

export interface Http1ClientOptions {
  /**
   * Opens a connection; it may still be connecting, but must not have discarded received bytes. They are passed
   * to `received`, or emitted by the socket.
   */
  readonly connect: (received: (chunk: Buffer) => void) => Promise<Socket>;
  readonly maxReplyBytes: number;
  /** Maximum number of idle connections. */
  readonly maxIdle?: number;
  /** Limits how long replies wait for each other; the system clock by default. */
  readonly clock?: Clock;
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
const defaultMaxIdle = 256;

/** Connections idle for longer are closed when another one becomes idle. */
const maxIdleMilliseconds = 90_000;

/** A connection idle for longer may have been closed by the server, which is checked before it is used. */
const trustedMilliseconds = 100;

export class Http1Client {
  readonly #options: Http1ClientOptions;
  readonly #idle: Connection[] = [];
  readonly #replies: ReplyBatch;
  #closed = false;

  constructor(options: Http1ClientOptions) {
    this.#options = options;
    this.#replies = new ReplyBatch(options.clock ?? systemClock);
  }

  /** Sends a request: its head with the terminating empty line, and its body. */
  send(request: string): Exchange {
    const exchange = new PendingExchange(request, this.#replies);
    const kept = this.#takeTrusted();
    if (kept) kept.start(exchange);
    else this.#startWhenConnected(exchange).catch((error: Error) => exchange.fail(error));
    return exchange;
  }

  /** Closes the idle connections; others are closed after their exchange. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.socket.destroy();
  }

  async #startWhenConnected(exchange: PendingExchange): Promise<void> {
    const connection = (await this.#takeAny()) ?? (await this.#open(exchange));
    if (!exchange.settled) connection.start(exchange);
    // The exchange was aborted meanwhile: the connection is free for another.
    else if (!connection.socket.destroyed) this.#keep(connection);
  }

  async #open(exchange: PendingExchange): Promise<Connection> {
    // No bytes can arrive before the connection exists: the socket has only begun to connect.
    const socket = await this.#options.connect((chunk) => connection.read(chunk));
    if (exchange.settled) socket.destroy();
    socket.setNoDelay(true);
    const connection = new Connection(socket, this.#options.maxReplyBytes, {
      free: (each) => this.#keep(each),
      ended: (each) => this.#remove(each),
    });
    return connection;
  }

  #keep(connection: Connection): void {
    if (this.#closed || this.#idle.length >= (this.#options.maxIdle ?? defaultMaxIdle))
      connection.socket.destroy();
    else {
      connection.becomeIdle();
      this.#idle.push(connection);
      // The most recently used connection is reused first, so the first in the list has been idle longest.
      const oldest = this.#idle[0]!;
      if (connection.since - oldest.since > maxIdleMilliseconds) oldest.socket.destroy();
    }
  }

  #remove(connection: Connection): void {
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
class PendingExchange implements Exchange {
  readonly request: string;
  readonly reply: Promise<WholeReply>;
  settled = false;
  /** The connection that carries the exchange. */
  socket: Socket | undefined;
  readonly #batch: ReplyBatch;
  #resolve!: (reply: WholeReply) => void;
  #reject!: (error: Error) => void;

  constructor(request: string, batch: ReplyBatch) {
    this.request = request;
    this.#batch = batch;
    batch.begin();
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
    this.#batch.add(() => {
      this.#settle();
      this.#resolve(reply);
    });
  }

  fail(error: Error): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    if (this.settled) return;
    this.settled = true;
    this.#batch.settle();
  }
}

interface ConnectionObserver {
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
  readonly #maxReplyBytes: number;
  readonly #observer: ConnectionObserver;
  #current: PendingExchange | undefined;
  #reader: ReplyReader | undefined;

  constructor(socket: Socket, maxReplyBytes: number, observer: ConnectionObserver) {
    this.socket = socket;
    this.#maxReplyBytes = maxReplyBytes;
    this.#observer = observer;
    socket.on("data", (chunk: Buffer) => this.read(chunk));
    socket.on("end", () => this.#end());
    socket.on("error", (error) => this.#break(error));
    socket.on("close", () => this.#break(new Error("socket hang up")));
  }

  start(exchange: PendingExchange): void {
    this.#current = exchange;
    this.#reader = new ReplyReader(this.#maxReplyBytes);
    exchange.socket = this.socket;
    this.socket.ref();
    this.socket.write(exchange.request);
  }

  /** An idle connection does not keep the process alive. */
  becomeIdle(): void {
    this.since = performance.now();
    this.socket.unref();
  }

  read(chunk: Buffer): void {
    // Unsolicited bytes end the connection.
    const step = this.#reader?.take(chunk) ?? new Error("unexpected bytes");
    if (step === "more") return;
    if (step instanceof Error) return this.#break(step);
    if (!step.reusable) return this.#finish(step.reply);
    const exchange = this.#release();
    this.#observer.free(this);
    exchange?.answer(step.reply);
  }

  #end(): void {
    const reply = this.#reader?.end();
    if (reply) this.#finish(reply);
    else if (this.#reader?.inBody) this.#break(new UnfinishedBody("unexpected EOF"));
    else this.#break(new Error(this.#reader?.started ? "unexpected EOF" : "EOF"));
  }

  /** Delivers the last response of this connection. */
  #finish(reply: WholeReply): void {
    const exchange = this.#release();
    this.#break(new Error("EOF"));
    exchange?.answer(reply);
  }

  #break(error: Error): void {
    this.socket.destroy();
    this.#observer.ended(this);
    this.#release()?.fail(error);
  }

  #release(): PendingExchange | undefined {
    const exchange = this.#current;
    if (exchange) exchange.socket = undefined;
    this.#current = undefined;
    this.#reader = undefined;
    return exchange;
  }
}
