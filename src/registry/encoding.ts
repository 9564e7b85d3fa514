// Conversion between objects and stored bytes: JSON of the stored version, or protobuf in its envelope.
import { type Dialect, apiVersionOf } from "#dialect";
import {
  DecodeError,
  type JsonObject,
  decodeEnvelope,
  decodeJson as decode,
  encodeEnvelope,
  encodeJson,
  fromJsonValue,
  parseJson,
  protobufCodec,
} from "#schema";
import { clearEmptyLists } from "./empty-lists.ts";
import type { ApiObject, KindSchema } from "./strategy.ts";

export const decodeJson = (schema: KindSchema, text: Uint8Array | string): ApiObject =>
  decode(schema, text).value as unknown as ApiObject;

/**
 * Returns the JSON text of an object as the cache holds it: canonical, with empty required lists written as
 * null, as they are decoded from binary storage.
 */
export function encodeHeld(schema: KindSchema, object: ApiObject): string {
  clearEmptyLists(schema, object);
  return encodeJson(schema, object as never);
}

export interface StoredForm {
  readonly apiVersion: string;
  /** Decodes the value; `convert` turns JSON of another version into that of the schema. */
  decode(schema: KindSchema, convert?: (stored: JsonObject) => JsonObject): ApiObject;
}

const decodeConverted = (
  schema: KindSchema,
  text: string,
  convert: (stored: JsonObject) => JsonObject,
): ApiObject =>
  fromJsonValue(schema, convert(parseJson(text).value as JsonObject)).value as unknown as ApiObject;

/** Drops malformed metadata of custom resources, which may have been stored before metadata was validated. */
function decodeStoredJson(schema: KindSchema, text: string): ApiObject {
  const { open } = schema.more;
  try {
    return decodeJson(schema, text);
  } catch (error) {
    if (!open || !(error instanceof DecodeError)) throw error;
    return decodeConverted(schema, text, (stored) => {
      open.dropMalformed(stored);
      return stored;
    });
  }
}

/** Determines the version of a stored value, and how to decode it once its schema is chosen. */
export function storedForm(value: Uint8Array, dialect: Dialect): StoredForm {
  if (value[0] === openingBrace) {
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
    return {
      apiVersion: /"apiVersion":\s*"([^"]*)"/.exec(text)?.[1] ?? "",
      decode: (schema, convert) =>
        convert ? decodeConverted(schema, text, convert) : decodeStoredJson(schema, text),
    };
  }
  const { apiVersion, kind, raw } = decodeEnvelope(value, dialect.wire.protobufMagic);
  return {
    apiVersion,
    decode: (schema) => protobufCodec(schema).decode(raw, { apiVersion, kind }) as unknown as ApiObject,
  };
}

const openingBrace = 0x7b;

export function encodeStoredProtobuf(schema: KindSchema, object: ApiObject, dialect: Dialect): Uint8Array {
  const type = { apiVersion: apiVersionOf(dialect, schema.kind), kind: schema.kind.kind };
  return copyToOwnBuffer(
    encodeEnvelope(type, protobufCodec(schema).encode(object), dialect.wire.protobufMagic),
  );
}

/**
 * Copies bytes into a separate allocation: stores keep values, and a slice of a shared slab would keep the
 * whole slab alive.
 */
export function copyToOwnBuffer(bytes: Uint8Array): Uint8Array {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
