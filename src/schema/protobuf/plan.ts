// What both directions of the binary form need to know of a message.

import type { Field, Message, ScalarName } from "../shape.ts";

/**
 * `reference`: how API objects are stored and sent: every plain scalar is written, even when zero; map keys
 * are sorted. `proto3`: how gRPC peers write: zero scalars are left out, repeated numbers are packed, bytes
 * are Uint8Arrays. When decoding, a `required` field that is absent gets its zero value (an empty list or map
 * for those); any other stays out.
 */
export type Style = "reference" | "proto3";

export const wireTypes: Readonly<Record<ScalarName, 0 | 1 | 2 | 5>> = {
  string: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  uint32: 0,
  uint64: 0,
  double: 1,
  float: 5,
  bytes: 2,
  rawBytes: 2,
  time: 2,
  microTime: 2,
  duration: 2,
  quantity: 2,
  intOrString: 2,
  rawExtension: 2,
  fieldsV1: 2,
  json: 2,
};

export const tagOf = (number: number, wire: number): number => number * 8 + wire;

/** The fields that have a number, in its order. A field without one exists in JSON only. */
export const fieldsByNumber = (message: Message): [name: string, field: Field][] =>
  Object.entries(message.fields)
    .filter(([, field]) => field.number > 0)
    .sort(([, a], [, b]) => a.number - b.number);

/** The names that generated source uses. */
export interface Scope {
  /** The compiled codec of a nested message. */
  codec(message: Message): string;
  constant(value: unknown): string;
  fresh(): string;
}
