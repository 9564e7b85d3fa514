// Writes protobuf wire primitives backwards: a nested message is complete before its length is written, so
// nothing
// is measured twice.
//
//   … [tag][length][ body of the nested message ][fields already written]
//                                                ^ mark        everything to the right is final

import { parseDuration, parseMicroTime, parseTime } from "#base";
import { rawText } from "../raw.ts";
import { type FastBuffer, allocate } from "./fast-buffer.ts";

/** A buffer that grew beyond this size for one large object is not kept. */
const keptBytes = 1 << 20;
const two32 = 4294967296;

export class Writer {
  #buffer: FastBuffer = allocate(1 << 15);
  #at: number = this.#buffer.length;

  /** Returns the number of bytes written: the mark from which a nested message's length is computed. */
  mark(): number {
    return this.#buffer.length - this.#at;
  }

  /** Returns the bytes written and resets the writer. */
  finish(): Uint8Array {
    const result = Buffer.allocUnsafe(this.#buffer.length - this.#at);
    this.#buffer.copy(result, 0, this.#at);
    this.reset();
    return result;
  }
  reset(): void {
    if (this.#buffer.length > keptBytes) this.#buffer = allocate(1 << 15);
    this.#at = this.#buffer.length;
  }

  #room(bytes: number): void {
    if (this.#at >= bytes) return;
    const used = this.#buffer.length - this.#at;
    const larger = allocate(Math.max(this.#buffer.length * 2, used + bytes + 1024));
    this.#buffer.copy(larger, larger.length - used, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - used;
  }

  /** Writes an unsigned number below 2^32, tags and lengths included. */
  uint32(value: number): void {
    if (this.#at < 5) this.#room(5);
    const buffer = this.#buffer;
    if (value < 128) {
      buffer[--this.#at] = value;
    } else if (value < 16384) {
      buffer[--this.#at] = value >>> 7;
      buffer[--this.#at] = (value & 127) | 128;
    } else {
      const size = value < 2097152 ? 3 : value < 268435456 ? 4 : 5;
      let at = (this.#at -= size);
      for (; value > 127; value >>>= 7) buffer[at++] = (value & 127) | 128;
      buffer[at] = value;
    }
  }

  #varint64(low: number, high: number): void {
    if (high === 0) return this.uint32(low);
    this.#room(10);
    let size = 5;
    for (let rest = high >>> 3; rest > 0; rest >>>= 7) size++;
    let at = (this.#at -= size);
    const buffer = this.#buffer;
    while (high > 0) {
      buffer[at++] = (low & 127) | 128;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    for (; low > 127; low >>>= 7) buffer[at++] = (low & 127) | 128;
    buffer[at] = low;
  }

  int32(value: number): void {
    if (value >= 0) this.uint32(value);
    else this.#varint64(value >>> 0, 0xffffffff);
  }
  int64(value: number | bigint): void {
    if (typeof value === "bigint")
      this.#varint64(Number(value & 0xffffffffn), Number((value >> 32n) & 0xffffffffn));
    else if (value >= 0 && value < two32) this.uint32(value);
    else this.#varint64(value >>> 0, Math.floor(value / two32) >>> 0);
  }
  bool(value: boolean): void {
    if (this.#at < 1) this.#room(1);
    this.#buffer[--this.#at] = value ? 1 : 0;
  }
  double(value: number): void {
    this.#room(8);
    this.#buffer.writeDoubleLE(value, (this.#at -= 8));
  }
  fixed64(value: bigint): void {
    this.#room(8);
    this.#buffer.writeBigUInt64LE(value, (this.#at -= 8));
  }
  float(value: number): void {
    this.#room(4);
    this.#buffer.writeFloatLE(value, (this.#at -= 4));
  }

  string(value: string): void {
    const length = value.length;
    if (length < 40) {
      if (this.#at < length + 5) this.#room(length + 5);
      const buffer = this.#buffer;
      const start = this.#at - length;
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 127) break;
        buffer[start + i] = code;
      }
      if (i === length) {
        this.#at = start - 1;
        buffer[start - 1] = length;
        return;
      }
    }
    const size = Buffer.byteLength(value);
    this.#room(size + 5);
    this.#at -= size;
    this.#buffer.utf8Write(value, this.#at, size);
    this.uint32(size);
  }
  bytes(value: Uint8Array): void {
    this.#room(value.length + 5);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.uint32(value.length);
  }
  base64(value: string): void {
    this.bytes(Buffer.from(value, "base64"));
  }

  #timestamp(seconds: number, nanos: number): void {
    const mark = this.mark();
    this.uint32(nanos);
    this.uint32(0x10);
    this.int64(seconds);
    this.uint32(0x08);
    this.uint32(this.mark() - mark);
  }
  time(value: string | null): void {
    if (value === null) return this.uint32(0);
    this.#timestamp(parseTime(value).seconds, 0);
  }
  microTime(value: string | null): void {
    if (value === null) return this.uint32(0);
    const { seconds, nanos } = parseMicroTime(value);
    this.#timestamp(seconds, nanos);
  }
  duration(value: string): void {
    const mark = this.mark();
    this.int64(parseDuration(value));
    this.uint32(0x08);
    this.uint32(this.mark() - mark);
  }
  quantity(value: string): void {
    const mark = this.mark();
    this.string(value);
    this.uint32(0x0a);
    this.uint32(this.mark() - mark);
  }
  intOrString(value: number | string): void {
    const mark = this.mark();
    const text = typeof value === "string";
    this.string(text ? value : "");
    this.uint32(0x1a);
    this.int32(text ? 0 : value);
    this.uint32(0x10);
    this.uint32(text ? 1 : 0);
    this.uint32(0x08);
    this.uint32(this.mark() - mark);
  }
  /** Writes any JSON value as its text in field 1; bytes are written unchanged. */
  raw(value: unknown): void {
    if (value === null || value === undefined) return this.uint32(0);
    const mark = this.mark();
    if (value instanceof Uint8Array) this.bytes(value);
    else this.string(rawText(value));
    this.uint32(0x0a);
    this.uint32(this.mark() - mark);
  }
}
