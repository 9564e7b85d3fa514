// The receiving half of a stream: messages wait in a short queue, and a slow reader slows the sender down.
import type { GrpcError } from "./status.ts";

/** A bidirectional stream. Leaving the iteration over it cancels the call. */
export interface GrpcStream<Request, Response> extends AsyncIterable<Response> {
  /** The endpoint the stream is connected to. */
  readonly endpoint: string;
  /** Resolves when more may be sent. */
  send(request: Request): Promise<void>;
  /** Half-closes the stream: no more messages will be sent. */
  end(): void;
  cancel(): void;
}

const maxQueued = 16;

/** A queue with one producer and one reader. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #flow: { pause(): void; resume(): void; cancel(): void };
  #items: T[] = [];
  #paused = false;
  #ended = false;
  #error: GrpcError | undefined;
  #waiting: { resolve(result: IteratorResult<T>): void; reject(error: Error): void } | undefined;

  constructor(flow: { pause(): void; resume(): void; cancel(): void }) {
    this.#flow = flow;
  }

  push(item: T): void {
    if (this.#waiting) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve({ value: item, done: false });
      return;
    }
    this.#items.push(item);
    if (!this.#paused && this.#items.length >= maxQueued) {
      this.#paused = true;
      this.#flow.pause();
    }
  }

  end(error: GrpcError | undefined): void {
    this.#ended = true;
    this.#error = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) return;
    if (error) waiting.reject(error);
    else waiting.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return {
      next: () => {
        if (this.#items.length > 0) {
          const value = this.#items.shift()!;
          if (this.#paused && this.#items.length === 0) {
            this.#paused = false;
            this.#flow.resume();
          }
          return Promise.resolve({ value, done: false });
        }
        if (this.#ended)
          return this.#error
            ? Promise.reject(this.#error)
            : Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject };
        });
      },
      return: () => {
        this.#flow.cancel();
        this.#items = [];
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }
}
