// The protobuf encoding of messages. A codec is compiled from the declaration on first use and cached.

import { setOwn } from "#base";
import type { TypeOf } from "../infer.ts";
import type { Message } from "../shape.ts";
import { decoderSource } from "./decoder.ts";
import { encoderSource } from "./encoder.ts";
import type { Scope, Style } from "./plan.ts";
import { ProtobufError, Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** The type of a kind's object. In protobuf it is part of the envelope, not of the message. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ProtobufCodec<T> {
  encode(value: T): Uint8Array;
  /**
   * Decodes a message. Throws a ProtobufError (possibly TooManyFields) for malformed input. For a kind,
   * `typeMeta` becomes the object's first two fields.
   */
  decode(bytes: Uint8Array, typeMeta?: TypeMeta, maxFields?: number): T;
}

interface Compiled {
  encode(writer: Writer, value: unknown): void;
  decode(reader: Reader, end: number, typeMeta?: TypeMeta): unknown;
}

const compiled: Readonly<Record<Style, WeakMap<Message, Compiled>>> = {
  reference: new WeakMap(),
  proto3: new WeakMap(),
};
const codecs: Readonly<Record<Style, WeakMap<Message, ProtobufCodec<unknown>>>> = {
  reference: new WeakMap(),
  proto3: new WeakMap(),
};

export function protobufCodec<M extends Message>(
  message: M,
  { style = "reference" }: { readonly style?: Style } = {},
): ProtobufCodec<TypeOf<M>> {
  const known = codecs[style].get(message);
  if (known) return known as ProtobufCodec<TypeOf<M>>;
  const codec = codecOf(compile(message, style)) as ProtobufCodec<TypeOf<M>>;
  codecs[style].set(message, codec);
  return codec;
}

const writer = new Writer();

function codecOf(messageCodec: Compiled): ProtobufCodec<unknown> {
  return {
    encode(value) {
      try {
        messageCodec.encode(writer, value);
      } catch (error) {
        writer.reset();
        throw error;
      }
      return writer.finish();
    },
    decode(bytes, typeMeta, maxFields) {
      const reader = new Reader(bytes, maxFields);
      const value = messageCodec.decode(reader, reader.end, typeMeta);
      if (reader.at !== reader.end)
        throw new ProtobufError("a protobuf field runs over the end of its message");
      return value;
    },
  };
}

/**
 * Registers the codec before its functions exist, so that a message may contain itself; each function is
 * compiled on first call.
 */
function compile(message: Message, style: Style): Compiled {
  const known = compiled[style].get(message);
  if (known) return known;
  const codec: Compiled = {
    encode(writer, value) {
      codec.encode = build(message, style, ["w", "o"], encoderSource) as Compiled["encode"];
      codec.encode(writer, value);
    },
    decode(reader, end, typeMeta) {
      codec.decode = build(message, style, ["r", "end", "typeMeta"], decoderSource) as Compiled["decode"];
      return codec.decode(reader, end, typeMeta);
    },
  };
  compiled[style].set(message, codec);
  return codec;
}

const helpers = { none: Object.freeze({}), sortedKeys, setOwn, nested, wrapped, union, other };

function build(
  message: Message,
  style: Style,
  parameters: readonly string[],
  source: (message: Message, style: Style, scope: Scope) => string,
): unknown {
  const names: string[] = Object.keys(helpers);
  const values: unknown[] = Object.values(helpers);
  const references = new Map<Message, string>();
  let count = 0;
  const constant = (value: unknown): string => {
    names.push(`c${names.length}`);
    values.push(value);
    return names.at(-1)!;
  };
  const codec = (nestedMessage: Message): string => {
    const name = references.get(nestedMessage) ?? constant(compile(nestedMessage, style));
    references.set(nestedMessage, name);
    return name;
  };
  const body = source(message, style, { codec, constant, fresh: () => `x${count++}` });
  // Only declared names and numbers enter the source, names as JSON strings.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(
    ...names,
    `"use strict"; return function ${/^\w+$/.test(message.name) ? message.name : "message"}(${parameters.join(", ")}) { ${body} };`,
  )(...values);
}

const plain = /^[\x20-\x7e]*$/;

function sortedKeys(map: Record<string, unknown>): string[] {
  const keys = Object.keys(map);
  if (keys.every((key, i) => i === 0 || (key > keys[i - 1]! && plain.test(key)))) return keys;
  // Keys are sorted by their UTF-8 bytes, which differs from JS string order only for surrogates.
  return keys.some((key) => /[\ud800-\uffff]/.test(key))
    ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    : keys.sort();
}

function nested(reader: Reader, codec: Compiled): unknown {
  const end = reader.open();
  const value = codec.decode(reader, end);
  reader.close(end);
  return value;
}

/** Reads a list that is wrapped in a message, with its items in field 1. */
function wrapped(reader: Reader, item: () => unknown): unknown[] {
  const items: unknown[] = [];
  const end = reader.open();
  while (reader.at < end) {
    const tag = reader.tag();
    if (tag >>> 3 === 1) items.push(item());
    else reader.skip(tag);
  }
  reader.close(end);
  return items;
}

/** Reads a schema-or-other union. */
function union(reader: Reader, codec: Compiled, or: "bool" | "array" | "strings"): unknown {
  const end = reader.open();
  let schema: unknown;
  let allows = false;
  const items: unknown[] = [];
  while (reader.at < end) {
    const tag = reader.tag();
    if (or === "bool" && tag === 8) allows = reader.bool();
    else if (tag === (or === "bool" ? 18 : 10)) schema = nested(reader, codec);
    else if (tag === 18) items.push(or === "strings" ? reader.string() : nested(reader, codec));
    else reader.skip(tag);
  }
  reader.close(end);
  if (or === "bool") return schema ?? allows;
  return items.length > 0 ? items : (schema ?? null);
}

/**
 * Handles a tag without a case: an unknown field is skipped, a known field with the wrong wire type is an
 * error.
 */
function other(reader: Reader, tag: number, known: ReadonlyMap<number, string>, message: string): void {
  const name = known.get(tag >>> 3);
  if (name !== undefined)
    throw new ProtobufError(`wrong protobuf wire type ${tag & 7} for field ${message}.${name}`);
  reader.skip(tag);
}
