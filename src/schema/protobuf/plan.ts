// Definitions shared by the protobuf encoder and decoder.

import type { Field, Message, ScalarName } from "../shape.ts";

/**
 * `reference`: the encoding of stored and transmitted API objects: every non-pointer scalar is written, even
 * if zero; map keys are sorted. `proto3`: the encoding of gRPC peers: zero scalars are omitted, repeated
 * numbers are packed, bytes are Uint8Arrays. When decoding, an absent `required` field gets its zero value
 * (an empty list or map for those); any other stays absent.
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

/** Returns the fields that have a number, in numeric order. A field without one exists in JSON only. */
export const fieldsByNumber = (message: Message): [name: string, field: Field][] =>
  Object.entries(message.fields)
    .filter(([, field]) => field.number > 0)
    .sort(([, a], [, b]) => a.number - b.number);

/** Scope of generated source: allocates the names it uses. */
export interface Scope {
  /** Returns the name of the compiled codec of a nested message. */
  codec(message: Message): string;
  constant(value: unknown): string;
  fresh(): string;
}
