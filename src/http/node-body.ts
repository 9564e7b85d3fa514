// A request body on node:http2. Reading starts when a caller waits for the body, and pauses when the buffer
// is full until a caller reads it.
import type { ServerHttp2Stream } from "node:http2";
import { IncompleteBody, BodyTooLarge, type HeaderValues } from "./call.ts";
import { RequestBody } from "./http2/request-body.ts";

const bufferBytes = 512 * 1024;

export class NodeBody {
  readonly #stream: ServerHttp2Stream;
  readonly #declared: number;
  readonly #sendContinue: (() => void) | undefined;
  readonly #chunks = new RequestBody();
  readonly #buffered = Promise.withResolvers<void>();
  readonly #settled = Promise.withResolvers<void>();
  #size = 0;
  #limit = bufferBytes;
  #taken = false;
  #state: "unread" | "reading" | "complete" | "cut short" = "unread";

  /** `sendContinue` sends 100 Continue to a client that waits for it. */
  constructor(stream: ServerHttp2Stream, declared: HeaderValues[string], sendContinue?: () => void) {
    this.#stream = stream;
    this.#declared = declared === undefined ? -1 : Number(declared);
    this.#sendContinue = sendContinue;
  }

  /** Resolves when the body is complete, the buffer is full or the stream is closed. */
  buffered(): Promise<void> {
    this.#start();
    return this.#buffered.promise;
  }

  /** Reads the whole body; may be called once. */
  async read(limitBytes: number): Promise<Uint8Array> {
    if (this.#declared > limitBytes) throw new BodyTooLarge(limitBytes);
    this.#taken = true;
    this.#limit = limitBytes;
    this.#start();
    this.#stream.resume();
    if (this.#size > limitBytes) this.#settled.resolve();
    await this.#settled.promise;
    if (this.#size > limitBytes) throw new BodyTooLarge(limitBytes);
    if (this.#state !== "complete") throw new IncompleteBody();
    return this.#chunks.take();
  }

  #start(): void {
    if (this.#state !== "unread") return;
    this.#state = "reading";
    const stream = this.#stream;
    stream.on("data", (chunk: Buffer) => this.#onData(chunk));
    stream.on("end", () => this.#finish(stream.aborted ? "cut short" : "complete"));
    stream.on("close", () => this.#finish("cut short"));
    if (stream.readableEnded) this.#finish("complete");
    else if (stream.destroyed) this.#finish("cut short");
    else this.#sendContinue?.();
  }

  #onData(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#taken && this.#size > this.#limit) {
      this.#chunks.take();
      this.#settled.resolve();
      return;
    }
    this.#chunks.add(chunk);
    if (this.#taken || this.#size < bufferBytes) return;
    this.#stream.pause();
    this.#buffered.resolve();
  }

  #finish(state: "complete" | "cut short"): void {
    if (this.#state === "reading") this.#state = state;
    this.#buffered.resolve();
    this.#settled.resolve();
  }
}
