// Splits the bytes of a connection into frames (RFC 9113 §4.1). An incomplete frame is copied to a buffer of
// its size, so that data arriving in small pieces takes no more memory than its frame.
import { ConnectionError, errorCode, frame, frameHead, maxFrameBytes } from "./frames.ts";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export class FrameReader {
  private readonly onFrame: (type: number, flags: number, stream: number, payload: Buffer) => void;
  private expected: "preface" | "settings" | "frame" = "preface";
  /** The received part of an incomplete preface or frame. */
  private partial: Buffer | undefined;
  private partialBytes = 0;
  /** Number of bytes required to continue reading the partial frame. */
  private needed = preface.length;

  constructor(onFrame: FrameReader["onFrame"]) {
    this.onFrame = onFrame;
  }

  read(bytes: Buffer): void {
    let at = 0;
    while (this.partialBytes > 0) {
      if (at === bytes.length) return;
      at += this.append(bytes, at);
      if (this.partialBytes < this.needed) return;
      if (this.readOne(this.partial!.subarray(0, this.partialBytes), 0) < 0) continue;
      this.partial = undefined;
      this.partialBytes = 0;
    }
    for (let end = 0; end >= 0 && at < bytes.length;) {
      end = this.readOne(bytes, at);
      if (end >= 0) at = end;
    }
    if (at < bytes.length) this.append(bytes, at);
  }

  /** Reads the preface or frame at `at`. Returns the end position, or -1 if it is incomplete. */
  private readOne(bytes: Buffer, at: number): number {
    const available = bytes.length - at;
    if (this.expected === "preface") return this.readPreface(bytes, at, available);
    this.needed = frameHead;
    if (available < frameHead) return -1;
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    if (length > maxFrameBytes)
      throw new ConnectionError(errorCode.frameSize, `a frame of ${length} bytes exceeds ${maxFrameBytes}`);
    const type = bytes[at + 3]!;
    if (this.expected === "settings") {
      if (type !== frame.settings || bytes[at + 4]! & 1)
        throw new ConnectionError(errorCode.protocol, "the first frame is not SETTINGS");
      this.expected = "frame";
    }
    this.needed = frameHead + length;
    if (available < this.needed) return -1;
    const end = at + this.needed;
    const stream = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
    this.onFrame(type, bytes[at + 4]!, stream, bytes.subarray(at + frameHead, end));
    return end;
  }

  private readPreface(bytes: Buffer, at: number, available: number): number {
    const length = Math.min(available, preface.length);
    if (bytes.compare(preface, 0, length, at, at + length) !== 0)
      throw new ConnectionError(errorCode.protocol, "the connection preface is wrong");
    if (length < preface.length) return -1;
    this.expected = "settings";
    return at + length;
  }

  /** Copies at most the bytes missing from the partial frame; returns their number. */
  private append(bytes: Buffer, at: number): number {
    const taken = Math.min(this.needed - this.partialBytes, bytes.length - at);
    if (!this.partial || this.partial.length < this.needed) {
      const larger = Buffer.allocUnsafeSlow(this.needed);
      this.partial?.copy(larger, 0, 0, this.partialBytes);
      this.partial = larger;
    }
    bytes.copy(this.partial, this.partialBytes, at, at + taken);
    this.partialBytes += taken;
    return taken;
  }
}
