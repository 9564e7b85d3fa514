// gRPC message framing: one byte of flags, four bytes of length, the message. Messages above the limit are
// never buffered.
import { GrpcError } from "./status.ts";

const headerBytes = 5;

/** Part of the error of a message above the limit; worded as by grpc-go, whose text programs and users know. */
export const messageTooLong = "received message larger than max";

/** Returns a message with its frame header. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headerBytes);
  return frame;
}

/** Splits the bytes of a stream into messages. */
export class FrameReader {
  readonly #limit: number;
  readonly #sender: "server" | "client";
  #chunks: Buffer[] = [];
  #held = 0;
  #needed = headerBytes;

  constructor(maxMessageBytes: number, sender: "server" | "client" = "server") {
    this.#limit = maxMessageBytes;
    this.#sender = sender;
  }

  /** True between messages: the stream may end here. */
  get empty(): boolean {
    return this.#held === 0;
  }

  /** Adds received bytes and returns the messages they complete. Throws GrpcError for invalid frames. */
  push(chunk: Buffer): Uint8Array[] {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#held);
    const messages: Uint8Array[] = [];
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      if (left < headerBytes) {
        this.#needed = headerBytes;
        break;
      }
      const length = bytes.readUInt32BE(at + 1);
      if (bytes[at] !== 0)
        throw new GrpcError(
          "INTERNAL",
          `the ${this.#sender} sent a compressed message, which was not offered`,
        );
      if (length > this.#limit)
        throw new GrpcError("RESOURCE_EXHAUSTED", `grpc: ${messageTooLong} (${length} vs. ${this.#limit})`);
      this.#needed = headerBytes + length;
      if (left < this.#needed) break;
      messages.push(bytes.subarray(at + headerBytes, at + this.#needed));
      at += this.#needed;
    }
    this.#held = bytes.length - at;
    this.#chunks = this.#held ? [at ? bytes.subarray(at) : bytes] : [];
    return messages;
  }
}
