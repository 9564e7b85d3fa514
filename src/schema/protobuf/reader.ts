// Reads protobuf wire primitives, checking every length against the end of the input.

import { canonicalQuantity, formatDuration, formatMicroTime, formatTime, isZeroTime } from "#base";
import { rawFromText } from "../raw.ts";
import { type FastBuffer, viewOf } from "./fast-buffer.ts";

export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** The input has more fields than the caller's limit. */
export class TooManyFields extends ProtobufError {}

const two32 = 4294967296;
/** Effectively unlimited. */
const noLimit = 2 ** 30 - 1;
/** Nesting limit; no valid object comes close to it. */
const maxDepth = 200;

// Short strings repeat (names, kinds, labels): a small table of recent ones is faster than creating new
// strings, and saves memory.
const recentSlots = 4096;
const recent: string[] = Array.from({ length: recentSlots }, () => "");
const maxRecentLength = 28;

const truncated = () => new ProtobufError("unexpected end of protobuf data");

export class Reader {
  readonly #buffer: FastBuffer;
  readonly end: number;
  at: number;
  #depth = 0;
  /** The high half of the last 64-bit number. */
  #high = 0;
  #fieldsLeft: number;

  constructor(bytes: Uint8Array, maxFields = noLimit) {
    this.#fieldsLeft = maxFields;
    this.#buffer = viewOf(bytes);
    this.end = bytes.length;
    this.at = 0;
  }

  /** Reads a varint and returns its low 32 bits as an unsigned number; `#high` holds the rest. */
  #varint(): number {
    const buffer = this.#buffer;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw truncated();
      const byte = buffer[this.at++]!;
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift === 28) {
        low |= (byte & 127) << 28;
        high = (byte & 127) >>> 4;
      } else high |= (byte & 127) << (shift - 32);
      if (byte < 128) {
        this.#high = high >>> 0;
        return low >>> 0;
      }
    }
    throw new ProtobufError("a protobuf integer has more than 64 bits");
  }

  uint32(): number {
    const at = this.at;
    if (at < this.end) {
      const byte = this.#buffer[at]!;
      if (byte < 128) {
        this.at = at + 1;
        return byte;
      }
    }
    return this.#varint();
  }
  tag(): number {
    const tag = this.uint32();
    if (tag < 8) throw new ProtobufError(`illegal protobuf tag ${tag}`);
    if (this.#fieldsLeft-- === 0) throw new TooManyFields("there are too many protobuf fields");
    return tag;
  }
  int32(): number {
    return this.uint32() | 0;
  }
  int64(): number | bigint {
    this.#high = 0;
    const low = this.uint32();
    const high = this.#high | 0;
    const value = high * two32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(low);
  }
  uint64(): number | bigint {
    this.#high = 0;
    const low = this.uint32();
    const value = this.#high * two32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.#high) << 32n) | BigInt(low);
  }
  bool(): boolean {
    this.#high = 0;
    return this.uint32() !== 0 || this.#high !== 0;
  }
  double(): number {
    return this.#buffer.readDoubleLE(this.#take(8));
  }
  float(): number {
    return this.#buffer.readFloatLE(this.#take(4));
  }

  /** Advances by `size` bytes and returns where they start. */
  #take(size: number): number {
    const start = this.at;
    if (size > this.end - start) throw truncated();
    this.at = start + size;
    return start;
  }

  string(): string {
    const size = this.uint32();
    const start = this.#take(size);
    if (size > maxRecentLength) return this.#buffer.utf8Slice(start, start + size);
    const buffer = this.#buffer;
    let hash = size;
    for (let i = start; i < start + size; i++) hash = (Math.imul(hash, 31) + buffer[i]!) | 0;
    const slot = (hash ^ (hash >>> 12)) & (recentSlots - 1);
    const known = recent[slot]!;
    if (known.length === size) {
      let i = 0;
      while (i < size && known.charCodeAt(i) === buffer[start + i]!) i++;
      if (i === size) return known;
    }
    const fresh = buffer.utf8Slice(start, start + size);
    // only ASCII compares byte by byte
    if (fresh.length === size && !/[\u0080-\uffff]/.test(fresh)) recent[slot] = fresh;
    return fresh;
  }
  rawBytes(): Uint8Array {
    const size = this.uint32();
    const start = this.#take(size);
    return Uint8Array.prototype.slice.call(this.#buffer, start, start + size);
  }
  /** Returns the bytes without copying them. */
  view(): Uint8Array {
    const size = this.uint32();
    const start = this.#take(size);
    return this.#buffer.subarray(start, start + size);
  }
  base64(): string {
    const size = this.uint32();
    const start = this.#take(size);
    return this.#buffer.base64Slice(start, start + size);
  }

  /** Reads a length and enters a nested message; returns where it ends. */
  open(): number {
    const size = this.uint32();
    if (size > this.end - this.at) throw truncated();
    if (++this.#depth > maxDepth) throw new ProtobufError(`protobuf messages nest deeper than ${maxDepth}`);
    return this.at + size;
  }
  close(end: number): void {
    this.#depth--;
    if (this.at !== end) throw new ProtobufError("a protobuf field runs over the end of its message");
  }

  /** Skips the value after an unknown tag. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.#varint();
        return;
      case 1:
        this.#take(8);
        return;
      case 2:
        this.#take(this.uint32());
        return;
      case 3:
        this.#skipGroup(tag >>> 3);
        return;
      case 5:
        this.#take(4);
        return;
      default:
        throw new ProtobufError(`illegal protobuf tag ${tag}`);
    }
  }
  #skipGroup(number: number): void {
    if (++this.#depth > maxDepth) throw new ProtobufError(`protobuf messages nest deeper than ${maxDepth}`);
    for (;;) {
      const tag = this.tag();
      if ((tag & 7) !== 4) {
        this.skip(tag);
        continue;
      }
      if (tag >>> 3 !== number) throw new ProtobufError("a protobuf group ends with another's number");
      this.#depth--;
      return;
    }
  }

  #timestamp(): { readonly seconds: number; readonly nanos: number } | undefined {
    const end = this.open();
    if (this.at === end) {
      this.close(end);
      return undefined;
    }
    let seconds: number | bigint = 0;
    let nanos = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) seconds = this.int64();
      else if (tag === 16) nanos = this.int32();
      else this.skip(tag);
    }
    this.close(end);
    if (typeof seconds === "bigint" || Math.abs(seconds) > 1e13)
      throw new ProtobufError(`a protobuf time is out of range: ${seconds} seconds`);
    return { seconds, nanos: Math.min(Math.max(nanos, 0), 999_999_999) };
  }
  time(): string | null {
    const instant = this.#timestamp();
    return instant === undefined || isZeroTime({ seconds: instant.seconds, nanos: 0 })
      ? null
      : formatTime(instant);
  }
  microTime(): string | null {
    const instant = this.#timestamp();
    return instant === undefined || isZeroTime(instant) ? null : formatMicroTime(instant);
  }
  duration(): string {
    const end = this.open();
    let nanoseconds: number | bigint = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) nanoseconds = this.int64();
      else this.skip(tag);
    }
    this.close(end);
    return formatDuration(BigInt(nanoseconds));
  }
  quantity(): string {
    const end = this.open();
    let text = "0";
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 10) text = canonicalQuantity(this.string());
      else this.skip(tag);
    }
    this.close(end);
    return text;
  }
  intOrString(): number | string {
    const end = this.open();
    let kind = 0;
    let number = 0;
    let text = "";
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) kind = this.int32();
      else if (tag === 16) number = this.int32();
      else if (tag === 26) text = this.string();
      else this.skip(tag);
    }
    this.close(end);
    if (kind !== 0 && kind !== 1)
      throw new ProtobufError(`a protobuf int-or-string has the unknown type ${kind}`);
    return kind === 1 ? text : number;
  }
  /**
   * Reads a JSON value from its text in field 1. Bytes that are not JSON stay bytes; without any bytes the
   * value is null.
   */
  raw(): unknown {
    const end = this.open();
    let value: unknown = null;
    while (this.at < end) {
      const tag = this.tag();
      if (tag !== 10) {
        this.skip(tag);
        continue;
      }
      const size = this.uint32();
      const start = this.#take(size);
      value = rawFromText(this.#buffer.utf8Slice(start, start + size));
      if (value === undefined) value = Uint8Array.prototype.slice.call(this.#buffer, start, start + size);
    }
    this.close(end);
    return value;
  }
}
