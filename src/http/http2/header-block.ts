// Assembles a header block from HEADERS and the following CONTINUATION frames (RFC 9113 §4.3). The fragments
// are copied as they arrive, so that small ones do not keep larger buffers alive.
import { ConnectionError, errorCode, frameBytes } from "./frames.ts";

/** Number of fragments allowed in addition to those required for the maximum size in full frames. */
const spareParts = 16;

export class HeaderBlock {
  readonly stream: number;
  readonly endStream: boolean;
  private readonly maxBytes: number;
  private buffer: Buffer;
  private size = 0;
  private parts = 0;

  constructor(stream: number, endStream: boolean, maxBytes: number) {
    this.stream = stream;
    this.endStream = endStream;
    this.maxBytes = maxBytes;
    this.buffer = Buffer.allocUnsafeSlow(1024);
  }

  add(part: Buffer): void {
    const size = this.size + part.length;
    if (++this.parts > Math.ceil(this.maxBytes / frameBytes) + spareParts)
      throw new ConnectionError(errorCode.enhanceYourCalm, "the header block has too many parts");
    if (size > this.maxBytes)
      throw new ConnectionError(errorCode.enhanceYourCalm, "the header block is too large");
    if (size > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.maxBytes, size * 2));
      this.buffer.copy(larger, 0, 0, this.size);
      this.buffer = larger;
    }
    part.copy(this.buffer, this.size);
    this.size = size;
  }

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.size);
  }
}
