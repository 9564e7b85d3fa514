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
  abort(error: Error): void;
}

const defaultMostIdle = 16;

interface KeptConnection {
  readonly socket: Socket;
  readonly since: number;
  /** What comes without being asked for, an end included, ends a connection without work. */
  readonly forget: () => void;
}
const unexpected = ["data", "end", "close", "error"] as const;

/** A connection that was kept for longer may have been closed meanwhile, and is looked at before it is used. */
const trustedMilliseconds = 100;

export class Http1Client {
  readonly #options: Http1ClientOptions;
  readonly #idle: KeptConnection[] = [];
  #closed = false;

  constructor(options: Http1ClientOptions) {
    this.#options = options;
  }

  /** Sends a request: its head with the empty line at the end, and its body. */
  send(request: string): Exchange {
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    const state: { socket?: Socket; error?: Error } = {};
    const abort = (error: Error): void => {
      state.error ??= error;
      state.socket?.destroy();
      aborted.reject(error);
    };
    return { reply: Promise.race([this.#exchange(request, state), aborted.promise]), abort };
  }

  /** Ends the connections without work; others end with their exchange. */
  close(): void {
    this.#closed = true;
    for (const { socket } of this.#idle.splice(0)) socket.destroy();
  }

  async #exchange(request: string, state: { socket?: Socket; error?: Error }): Promise<WholeReply> {
    const kept = await this.#take();
    const { error } = state;
    if (error) {
      if (kept) this.#keep(kept);
      throw error;
    }
    if (kept) return await this.#on(kept, request, state);
    const socket = await this.#options.connect();
    if (state.error) {
      socket.on("error", () => undefined);
      socket.destroy();
      throw state.error;
    }
    socket.setNoDelay(true);
    return await this.#on(socket, request, state);
  }

  #on(socket: Socket, request: string, state: { socket?: Socket }): Promise<WholeReply> {
    state.socket = socket;
    return new Promise((resolve, reject) => {
      const reader = new ReplyReader(this.#options.mostReplyBytes);
      const settle = (outcome: WholeReply | Error, reusable: boolean): void => {
        socket.off("data", read).off("end", ended).off("close", closed).off("error", fail);
        if (reusable) this.#keep(socket);
        else {
          socket.on("error", () => undefined);
          socket.destroy();
        }
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      const fail = (error: Error): void => settle(error, false);
      const read = (chunk: Buffer): void => {
        const step = reader.take(chunk);
        if (step === "more") return;
        settle(step instanceof Error ? step : step.reply, !(step instanceof Error) && step.reusable);
      };
      const ended = (): void => {
        const reply = reader.end();
        if (reply) settle(reply, false);
        else fail(new Error(reader.began ? "unexpected EOF" : "EOF"));
      };
      const closed = (): void => fail(new Error("socket hang up"));
      socket.on("data", read).on("end", ended).on("close", closed).on("error", fail);
      socket.write(request);
    });
  }

  #keep(socket: Socket): void {
    if (this.#closed || this.#idle.length >= (this.#options.mostIdle ?? defaultMostIdle)) {
      socket.on("error", () => undefined);
      socket.destroy();
      return;
    }
    const forget = (): void => {
      const at = this.#idle.findIndex((each) => each.socket === socket);
      if (at >= 0) this.#idle.splice(at, 1);
      socket.destroy();
    };
    for (const event of unexpected) socket.on(event, forget);
    socket.unref();
    this.#idle.push({ socket, since: performance.now(), forget });
  }

  /**
   * The connection that was used last: others may end for want of work. What the server has closed is passed
   * over; a request that was sent is never sent again, since the server may have acted on it.
   */
  async #take(): Promise<Socket | undefined> {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      const { socket, since, forget } = kept;
      // Its end may have come and not been told yet.
      if (performance.now() - since > trustedMilliseconds)
        await new Promise((turn) => void setImmediate(turn));
      for (const event of unexpected) socket.off(event, forget);
      if (!socket.destroyed) return socket.ref();
    }
    return undefined;
  }
}
