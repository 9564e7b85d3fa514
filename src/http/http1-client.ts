// An HTTP/1.1 client (RFC 9112) for short questions to few servers: connections are kept, each carries one
// exchange at a time, and an answer is read whole. It costs a third of what the client of the runtime does.
import type { Socket } from "node:net";
import { ReplyReader, type WholeReply } from "./reply-reader.ts";

export interface Http1ClientOptions {
  /** Opens a connection; it may still be on its way, but must not have lost anything of what was received. */
  readonly connect: () => Promise<Socket>;
  readonly mostReplyBytes: number;
  /** How many connections without work are kept. */
  readonly mostIdle?: number;
}

export interface Exchange {
  readonly reply: Promise<WholeReply>;
  /** Ends the exchange and its connection; the reply fails with the error. */
  readonly abort: (error: Error) => void;
}

/** As many as may be asked at once: to open a connection costs more than ten exchanges on a kept one. */
const defaultMostIdle = 256;

/** A connection without work for longer is closed when another comes to rest. */
const longestIdleMilliseconds = 90_000;

/** A connection that was kept for longer may have been closed meanwhile, and is looked at before it is used. */
const trustedMilliseconds = 100;

export class Http1Client {
  readonly #options: Http1ClientOptions;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(options: Http1ClientOptions) {
    this.#options = options;
  }

  /** Sends a request: its head with the empty line at the end, and its body. */
  send(request: string): Exchange {
    const asked = new Asked(request);
    const kept = this.#takeTrusted();
    if (kept) kept.carry(asked);
    else this.#carry(asked).catch((error: Error) => asked.fail(error));
    return asked;
  }

  /** Ends the connections without work; others end with their exchange. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.socket.destroy();
  }

  async #carry(asked: Asked): Promise<void> {
    const connection = (await this.#takeAny()) ?? (await this.#open(asked));
    if (!asked.settled) connection.carry(asked);
    // It was given up meanwhile: another may use the connection.
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
      // The one that was used last is used next: those at the front wait longest.
      const oldest = this.#idle[0]!;
      if (connection.since - oldest.since > longestIdleMilliseconds) oldest.socket.destroy();
    }
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** The connection that was used last, if its end would have been told by now. */
  #takeTrusted(): Connection | undefined {
    const last = this.#idle.at(-1);
    return last && performance.now() - last.since <= trustedMilliseconds ? this.#idle.pop() : undefined;
  }

  /**
   * A kept connection whose end has not come after a turn. A request that was sent is never sent again, since the
   * server may have acted on it.
   */
  async #takeAny(): Promise<Connection | undefined> {
    if (this.#idle.length > 0) await new Promise((turn) => void setImmediate(turn));
    return this.#idle.pop();
  }
}

/** A request and who waits for its reply. */
class Asked implements Exchange {
  readonly request: string;
  readonly reply: Promise<WholeReply>;
  settled = false;
  /** The connection that carries it. */
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
  /** Another exchange can begin. */
  free(connection: Connection): void;
  /** None can. */
  ended(connection: Connection): void;
}

/** The connection ended in the middle of an answer's body. */
export class UnfinishedBody extends Error {}

/** A socket with the exchange that it carries, if any; listeners stay, since changing them costs. */
class Connection {
  readonly socket: Socket;
  /** Since when it has no work. */
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

  /** Without work it holds nobody up who wants to end. */
  rest(): void {
    this.since = performance.now();
    this.socket.unref();
  }

  #read(chunk: Buffer): void {
    // What comes without being asked for ends the connection.
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

  /** The last answer of this connection. */
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

/** Exchanges of all clients that nobody has been answered yet. */
let underWay = 0;

/**
 * Answers that came in one turn are given after all of them are read: what many requests do next, they then do
 * one after the other. With 64 webhook calls at a time, that took 164 instead of 243 µs of the main thread for each.
 * The only one there is waits for no others, which spares a turn of the event loop.
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
