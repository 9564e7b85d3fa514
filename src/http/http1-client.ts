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
  /** What comes without being asked for, an end included, ends a connection without work. */
  readonly forget: () => void;
}
const unexpected = ["data", "end", "close", "error"] as const;

/** The exchange broke on a connection that was kept, before anything of an answer came. */
class StaleConnection extends Error {
  override readonly name = "StaleConnection";
}

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
    for (let kept = this.#take(); kept; kept = this.#take()) {
      try {
        return await this.#on(kept, request, state, true);
      } catch (error) {
        // The server had closed it: what it did not read can be sent again, on the next one.
        if (!(error instanceof StaleConnection) || state.error) throw error;
      }
    }
    const socket = await this.#options.connect();
    if (state.error) {
      socket.on("error", () => undefined);
      socket.destroy();
      throw state.error;
    }
    socket.setNoDelay(true);
    return await this.#on(socket, request, state, false);
  }

  #on(socket: Socket, request: string, state: { socket?: Socket }, wasKept: boolean): Promise<WholeReply> {
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
      const fail = (error: Error): void =>
        settle(wasKept && !reader.began ? new StaleConnection(error.message) : error, false);
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
    this.#idle.push({ socket, forget });
  }

  /** The connection that was used last: others may end for want of work. */
  #take(): Socket | undefined {
    const kept = this.#idle.pop();
    if (!kept) return undefined;
    for (const event of unexpected) kept.socket.off(event, kept.forget);
    return kept.socket.ref();
  }
}
