// The envelope of a binary API object: four magic bytes, then the type, the object's bytes, and their
// encoding.

import type { TypeMeta } from "./codec.ts";
import { ProtobufError, Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

export interface Envelope extends TypeMeta {
  /** The object's own bytes: a view, not a copy. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const writer = new Writer();

/**
 * Wraps an object's bytes. `contentType` is empty for protobuf objects and a media type for other content.
 */
export function encodeEnvelope(
  { apiVersion, kind }: TypeMeta,
  raw: Uint8Array,
  magic: Uint8Array,
  contentType = "",
): Uint8Array {
  writer.string(contentType);
  writer.uint32(0x22);
  writer.string("");
  writer.uint32(0x1a);
  writer.bytes(raw);
  writer.uint32(0x12);
  const mark = writer.mark();
  writer.string(kind);
  writer.uint32(0x12);
  writer.string(apiVersion);
  writer.uint32(0x0a);
  writer.uint32(writer.mark() - mark);
  writer.uint32(0x0a);
  const message = writer.finish();
  const result = Buffer.allocUnsafe(magic.length + message.length);
  result.set(magic);
  result.set(message, magic.length);
  return result;
}

/** Reports whether the bytes start with an envelope's magic number. */
export const hasEnvelope = (bytes: Uint8Array, magic: Uint8Array): boolean =>
  bytes.length >= magic.length && magic.every((byte, index) => bytes[index] === byte);

export function decodeEnvelope(bytes: Uint8Array, magic: Uint8Array): Envelope {
  if (!hasEnvelope(bytes, magic))
    throw new ProtobufError(
      "provided data does not appear to be a protobuf message, expected prefix " +
        Buffer.from(magic).toString("hex"),
    );
  const reader = new Reader(bytes.subarray(magic.length));
  let [apiVersion, kind, contentEncoding, contentType] = ["", "", "", ""];
  let raw: Uint8Array = new Uint8Array(0);
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) {
      const end = reader.open();
      while (reader.at < end) {
        const inner = reader.tag();
        if (inner === 0x0a) apiVersion = reader.string();
        else if (inner === 0x12) kind = reader.string();
        else reader.skip(inner);
      }
      reader.close(end);
    } else if (tag === 0x12) {
      raw = reader.view();
    } else if (tag === 0x1a) contentEncoding = reader.string();
    else if (tag === 0x22) contentType = reader.string();
    else reader.skip(tag);
  }
  return { apiVersion, kind, raw, contentEncoding, contentType };
}
