// Converts a response to the JSON of its object, whatever its encoding, for audit events.
import {
  LocalSubjectAccessReview,
  PartialObjectMetadata,
  Scale,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  Status,
  SubjectAccessReview,
  Table,
  TokenRequest,
  TokenReview,
  listOf,
} from "#api";
import type { Dialect } from "#dialect";
import type { Reply } from "#http";
import { type Message, decodeEnvelope, encodeJson, protobufCodec, yamlToJson } from "#schema";
import type { ApiCall } from "../api-call.ts";
import type { Catalog } from "../catalog.ts";

const objectStart = /^\{\s*"kind":\s*"/;

const fixed: ReadonlyMap<string, Message> = new Map<string, Message>([
  ["Status", Status],
  ["Table", Table],
  ["PartialObjectMetadata", PartialObjectMetadata],
  ["PartialObjectMetadataList", listOf(PartialObjectMetadata)],
  ...[
    Scale,
    TokenRequest,
    TokenReview,
    SubjectAccessReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SelfSubjectReview,
  ].map((schema) => [schema.kind.kind, schema] as const),
]);

/** Returns undefined for bodies that are not API objects. */
export function recordedForm(
  reply: Reply,
  call: ApiCall,
  catalog: Catalog,
  dialect: Dialect,
): string | undefined {
  const { body, headers } = reply;
  if (body === undefined || "stream" in body || "takeOver" in body) return undefined;
  const type = String(headers["content-type"] ?? "");
  const bytes =
    body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.length) : Buffer.concat(body);
  if (type.startsWith(dialect.wire.protobufMediaType)) return fromProtobuf(bytes, call, catalog, dialect);
  if (type.startsWith("application/yaml")) return Buffer.from(yamlToJson(bytes)).toString();
  if (!type.startsWith("application/json")) return undefined;
  const text = bytes.toString();
  return objectStart.test(text.slice(0, 64)) ? text : undefined;
}

function fromProtobuf(
  bytes: Uint8Array,
  { target }: ApiCall,
  catalog: Catalog,
  dialect: Dialect,
): string | undefined {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes, dialect.wire.protobufMagic);
  const endpoint = catalog.find(target.group, target.version)?.endpoints.get(target.resource);
  const schema =
    endpoint?.kind === kind
      ? endpoint.schema
      : endpoint && kind === `${endpoint.kind}List`
        ? listOf(endpoint.schema)
        : fixed.get(kind);
  if (!schema) return undefined;
  const value = protobufCodec(schema).decode(raw) as Record<string, unknown>;
  return encodeJson(schema, { ...value, apiVersion, kind });
}
