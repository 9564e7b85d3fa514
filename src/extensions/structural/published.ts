// A structural schema as published in OpenAPI. Version 2 omits what its readers do not support: alternatives,
// null, and the properties of objects that preserve unknown fields.
import type { Dialect } from "#dialect";
import type { OpenApiVersion, SchemaObject } from "#schema";
import type { SchemaProps, Structural } from "./structural.ts";

type Json = Record<string, unknown>;

const typeMeta: Readonly<Record<string, SchemaObject>> = {
  apiVersion: {
    type: "string",
    description:
      "APIVersion defines the group and version in which this object is written. Servers convert what they know and refuse what they do not.",
  },
  kind: {
    type: "string",
    description:
      "The kind of this object, in CamelCase. The endpoint the object is sent to knows it, and it never changes.",
  },
};

/** Keywords that constrain values, as spelled in definitions. */
const valueKeywords = [
  "format",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "enum",
  "maxProperties",
  "minProperties",
  "required",
];
const alternatives = ["allOf", "anyOf", "oneOf"];

export interface PublishOptions {
  readonly dialect: Dialect;
  readonly version: OpenApiVersion;
  /** A reference to the published metadata schema. */
  readonly metadata: string;
}

/** Returns the schema of the whole object; without a structural schema only its type is known. */
export function publishedObject(schema: Structural | undefined, options: PublishOptions): SchemaObject {
  if (!schema || (options.version === "v2" && schema.preserveUnknown)) return { type: "object" };
  const published = publish(schema, options);
  published["properties"] = {
    ...(published["properties"] as Json | undefined),
    ...typeMeta,
    metadata: metadataOf(options),
  };
  return published;
}

const metadataOf = ({ version, metadata }: PublishOptions): Json => ({
  // The public conformance suite looks for the first words.
  description: "Standard object's metadata: name, labels and whatever else every object carries.",
  ...(version === "v2" ? { $ref: metadata } : { allOf: [{ $ref: metadata }] }),
});

function publish(schema: Structural, options: PublishOptions): Json {
  const { version, dialect } = options;
  const v2 = version === "v2";
  const { props } = schema;
  const x = dialect.wire.extensionPrefix;
  const closed = v2 && (schema.nullable || schema.preserveUnknown);
  const result: Json = {};
  const untyped =
    v2 &&
    (schema.nullable ||
      (schema.type === "array" && closed) ||
      (schema.type === "object" && schema.preserveUnknown));
  if (schema.type !== "" && !untyped) result["type"] = schema.type;
  for (const key of ["description", "title"]) if (props[key]) result[key] = props[key];
  if (schema.default !== undefined && !v2) result["default"] = schema.default;
  if (schema.nullable && !v2) result["nullable"] = true;
  for (const key of valueKeywords) if (props[key] !== undefined) result[key] = props[key];
  if (v2) dropNullable(result, schema);
  else Object.assign(result, alternativesOf(props));
  if (schema.items && !closed) result["items"] = publish(schema.items, options);
  if (schema.properties.size > 0 && !closed)
    result["properties"] = Object.fromEntries(
      [...schema.properties].map(([name, inner]) => [name, publish(inner, options)]),
    );
  if (schema.additional)
    result["additionalProperties"] = schema.additional.of
      ? publish(schema.additional.of, options)
      : schema.additional.allowed;
  for (const [key, value] of Object.entries(props)) if (key.startsWith(x)) result[key] = value;
  if (schema.intOrString && !v2 && !result["anyOf"] && !result["allOf"])
    result["anyOf"] = [{ type: "integer" }, { type: "string" }];
  if (schema.embedded && !(v2 && schema.preserveUnknown)) addEmbedded(result, options);
  return result;
}

function alternativesOf(props: SchemaProps): Json {
  const result: Json = {};
  for (const key of alternatives) if (props[key] !== undefined) result[key] = props[key];
  if (props["not"] !== undefined) result["not"] = props["not"];
  return result;
}

/** Nullable fields are not required, as version 2 cannot express null. */
function dropNullable(result: Json, schema: Structural): void {
  const wanted = ((result["required"] as string[] | undefined) ?? []).filter(
    (name) => !schema.properties.get(name)?.nullable,
  );
  if (wanted.length === 0 || schema.additional?.of?.nullable) delete result["required"];
  else result["required"] = wanted;
}

function addEmbedded(result: Json, options: PublishOptions): void {
  result["properties"] = {
    ...(result["properties"] as Json | undefined),
    ...typeMeta,
    metadata: metadataOf(options),
  };
  const wanted = (result["required"] as string[] | undefined) ?? [];
  result["required"] = [...wanted, ...["kind", "apiVersion"].filter((name) => !wanted.includes(name))];
}
