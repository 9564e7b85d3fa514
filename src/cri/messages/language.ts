// How this room declares the messages of the runtime's protocol.
//
// What we send is declared optional: unset and zero are the same on this wire. What only the runtime sends is
// declared required, so that it reads as a zero, an empty text, list or map when the runtime left it out. A
// time is nanoseconds since the epoch.
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

/** The type of a message of this room: nothing in it is ever null. */
export type Told<S extends Shape> = NeverNull<TypeOf<S>>;
type NeverNull<T> = T extends null
  ? never
  : T extends Uint8Array | string | number | bigint | boolean | undefined
    ? T
    : T extends (infer Item)[]
      ? NeverNull<Item>[]
      : { [K in keyof T]: NeverNull<T[K]> };
export type AnyMessage = Message;

/** A number that stands for a name: the names in order from zero. */
export const choice = (number: number, names: readonly string[], doc: string) =>
  optional(number, int32, doc, { enum: names });
export const toldChoice = (number: number, names: readonly string[], doc: string) =>
  required(number, int32, doc, { enum: names });

/** Nanoseconds since the epoch, more than a plain number holds; zero when it has not happened. */
export const nanoseconds = uint64;

/** A time of the runtime in milliseconds since the epoch; undefined when it has not happened. */
export function millisecondsOf(time: number | bigint | undefined): number | undefined {
  const whole = BigInt.asIntN(64, BigInt(time ?? 0));
  return whole > 0n ? Number(whole / 1000n) / 1000 : undefined;
}

/** Milliseconds since the epoch as a time of the runtime. */
export const nanosecondsOf = (milliseconds: number): bigint =>
  BigInt(Math.round(milliseconds * 1000)) * 1000n;
