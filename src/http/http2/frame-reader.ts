// Cuts what comes from a client into frames.
import { ConnectionFault, fault, frame, frameBytes, frameHead } from "./frames.ts";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export class FrameReader {
  private readonly visit: (type: number, flags: number, stream: number, payload: Buffer) => void;
  /** Pieces of a frame that is not complete. */
  private rest: Buffer[] = [];
  private restBytes = 0;
  /** How many bytes must be there before it is worth looking. */
  private needed = preface.length;
  private begun: "no" | "preface" | "settings" = "no";

  constructor(visit: FrameReader["visit"]) {
    this.visit = visit;
  }

  read(bytes: Buffer): void {
    if (this.restBytes + bytes.length < this.needed) return this.keep(bytes);
    let all = bytes;
    if (this.restBytes > 0) {
      all = Buffer.concat([...this.rest, bytes]);
      this.rest = [];
      this.restBytes = 0;
    }
    let at = 0;
    if (this.begun === "no") {
      if (!preface.equals(all.subarray(0, preface.length)))
        throw new ConnectionFault(fault.protocol, "this is not how HTTP/2 begins");
      at = preface.length;
      this.begun = "preface";
    }
    for (;;) {
      this.needed = frameHead;
      if (all.length - at < frameHead) break;
      const length = (all[at]! << 16) | (all[at + 1]! << 8) | all[at + 2]!;
      if (length > frameBytes)
        throw new ConnectionFault(fault.frameSize, `a frame of ${length} bytes is too large`);
      this.needed += length;
      if (all.length - at < this.needed) break;
      const type = all[at + 3]!;
      if (this.begun === "preface") {
        if (type !== frame.settings)
          throw new ConnectionFault(fault.protocol, "the first frame is not SETTINGS");
        this.begun = "settings";
      }
      this.visit(
        type,
        all[at + 4]!,
        all.readUInt32BE(at + 5) & 0x7fff_ffff,
        all.subarray(at + frameHead, at + this.needed),
      );
      at += this.needed;
    }
    if (at < all.length) this.keep(all.subarray(at));
  }

  private keep(bytes: Buffer): void {
    this.rest.push(bytes);
    this.restBytes += bytes.length;
  }
}
