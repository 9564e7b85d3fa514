// Encodes an object that exists only for the response in the client's media type.
import type { Dialect } from "#dialect";
import { type Message, encodeEnvelope, encodeJson, printYaml, protobufCodec } from "#schema";
import type { Choice } from "./negotiate.ts";

export function viewBody(
  object: { readonly kind: string; readonly apiVersion: string },
  schema: Message,
  { media, pretty }: Choice,
  dialect: Dialect,
): Uint8Array {
  if (media === "protobuf")
    return encodeEnvelope(object, protobufCodec(schema).encode(object), dialect.wire.protobufMagic);
  const text = encodeJson(schema, object as never);
  if (media === "yaml") return Buffer.from(printYaml(JSON.parse(text)));
  return Buffer.from(pretty ? JSON.stringify(JSON.parse(text), undefined, 2) : `${text}\n`);
}
