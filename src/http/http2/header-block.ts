// A header block in parts: HEADERS and the CONTINUATION frames that follow it (RFC 9113 §4.3). The parts are
// copied together as they come, so that small parts pin no larger buffers.
import { ConnectionError, errorCode, frameBytes } from "./frames.ts";

/** Beyond what the allowed bytes need in full frames. */
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
