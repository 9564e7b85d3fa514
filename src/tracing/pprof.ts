// Encodes profiles of V8 in the format of pprof (gzipped protobuf, profile.proto), for `go tool pprof` and
// compatible tools.
import { gzipSync } from "node:zlib";
import { ProtobufWriter } from "#schema";

/** One frame of a call stack, as reported by the inspector. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** Zero-based. */
  readonly lineNumber: number;
}

/** A call stack and the values measured there. */
export interface StackSample {
  /** The innermost frame first. */
  readonly stack: readonly CallFrame[];
  readonly values: readonly number[];
}

export interface ValueType {
  readonly type: string;
  readonly unit: string;
}

export interface PprofProfile {
  readonly types: readonly ValueType[];
  readonly samples: readonly StackSample[];
  readonly period: ValueType & { readonly every: number };
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMilliseconds: number;
}

const varint = 0;
const bytes = 2;

/** Encodes the fields of profile.proto that viewers use. */
export function encodePprof(profile: PprofProfile): Buffer {
  const texts = new Numbered<string>((text) => text);
  texts.of("");
  const functions = new Numbered<CallFrame>(({ functionName, url }) => `${functionName}\n${url}`, 1);
  const locations = new Numbered<CallFrame>(
    ({ functionName, url, lineNumber }) => `${functionName}\n${url}\n${lineNumber}`,
    1,
  );
  const samples = profile.samples.map(({ stack, values }) => ({
    locations: stack.map((frame) => locations.of(frame)),
    values,
  }));
  for (const frame of locations.values) functions.of(frame);
  const name = (frame: CallFrame): number => texts.of(frame.functionName || "(anonymous)");
  const named = functions.values.map((frame) => ({ name: name(frame), file: texts.of(frame.url) }));
  const typed = [...profile.types, profile.period].map(
    ({ type, unit }) => [texts.of(type), texts.of(unit)] as const,
  );

  const writer = new ProtobufWriter();
  const integer = (field: number, value: number | bigint): void => {
    writer.int64(value);
    writer.uint32((field << 3) | varint);
  };
  const message = (field: number, write: () => void): void => {
    const mark = writer.mark();
    write();
    writer.uint32(writer.mark() - mark);
    writer.uint32((field << 3) | bytes);
  };
  const packed = (field: number, numbers: readonly number[]): void =>
    message(field, () => {
      for (const number of numbers.toReversed()) writer.int64(Math.round(number));
    });
  const valueType = (field: number, [type, unit]: readonly [number, number]): void =>
    message(field, () => {
      integer(2, unit);
      integer(1, type);
    });

  // From the last field to the first, since the writer writes backwards.
  integer(12, profile.period.every);
  valueType(11, typed.at(-1)!);
  integer(10, Math.round(profile.durationMilliseconds * 1e6));
  integer(9, BigInt(Math.round(profile.at)) * 1_000_000n);
  for (const text of texts.values.toReversed()) {
    writer.string(text);
    writer.uint32((6 << 3) | bytes);
  }
  for (const [at, { name: title, file }] of [...named.entries()].toReversed())
    message(5, () => {
      integer(4, file);
      integer(3, title);
      integer(2, title);
      integer(1, at + 1);
    });
  for (const [at, frame] of [...locations.values.entries()].toReversed())
    message(4, () => {
      message(4, () => {
        integer(2, frame.lineNumber + 1);
        integer(1, functions.of(frame));
      });
      integer(1, at + 1);
    });
  for (const sample of samples.toReversed())
    message(2, () => {
      packed(2, sample.values);
      packed(1, sample.locations);
    });
  for (const each of typed.slice(0, -1).toReversed()) valueType(1, each);
  return gzipSync(writer.finish());
}

/** Assigns a number to each value on first use. */
class Numbered<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #keyOf: (value: T) => string;
  readonly #first: number;
  constructor(keyOf: (value: T) => string, first = 0) {
    this.#keyOf = keyOf;
    this.#first = first;
  }
  of(value: T): number {
    return this.#numbers.getOrInsertComputed(
      this.#keyOf(value),
      () => this.values.push(value) - 1 + this.#first,
    );
  }
}
