// The declarations of CRI messages.
//
// Fields that we send are declared optional: on the wire, unset and zero are the same. Fields sent only by
// the runtime are declared required, so that a missing one reads as zero or as an empty string, list or map.
// Times are nanoseconds since the epoch.
import {
  type Message,
  type Shape,
  type TypeOf,
  apiPackage,
  int32,
  optional,
  required,
  uint64,
} from "#schema";

export const { message } = apiPackage({ package: "runtime.v1" });

/** The type of a CRI message: no part of it is ever null. */
export type MessageOf<S extends Shape> = NeverNull<TypeOf<S>>;
type NeverNull<T> = T extends null
  ? never
  : T extends Uint8Array | string | number | bigint | boolean | undefined
    ? T
    : T extends (infer Item)[]
      ? NeverNull<Item>[]
      : { [K in keyof T]: NeverNull<T[K]> };
export type AnyMessage = Message;

/** Declares an enum field; the names are numbered from zero. */
export const optionalEnum = (number: number, names: readonly string[], doc: string) =>
  optional(number, int32, doc, { enum: names });
export const requiredEnum = (number: number, names: readonly string[], doc: string) =>
  required(number, int32, doc, { enum: names });

/** Nanoseconds since the epoch, which exceed a plain number; 0 if the event has not happened. */
export const nanoseconds = uint64;

/** Converts a CRI time to milliseconds since the epoch; undefined if the event has not happened. */
export function millisecondsOf(time: number | bigint | undefined): number | undefined {
  const whole = BigInt.asIntN(64, BigInt(time ?? 0));
  return whole > 0n ? Number(whole / 1000n) / 1000 : undefined;
}

/** Converts milliseconds since the epoch to a CRI time. */
export const nanosecondsOf = (milliseconds: number): bigint =>
  BigInt(Math.round(milliseconds * 1000)) * 1000n;
