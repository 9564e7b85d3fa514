// How server-side apply merges objects of a defined kind: by the list and map types of its schema.
import { ObjectMeta } from "#api";
import { type MergeType, anyType, mergeTypeOf, structType } from "#schema";
import type { Structural } from "./structural.ts";

const text: MergeType = { is: "scalar", of: "string" };

/** What every object has. */
const commonFields = () => ({
  apiVersion: { type: text },
  kind: { type: text },
  metadata: { type: mergeTypeOf(ObjectMeta) },
});

/** The whole object: its schema, and beside it what every object has. */
export function objectMergeType(schema: Structural | undefined): MergeType {
  const common = commonFields();
  if (!schema) return structType(common, { others: anyType });
  return structType({ ...fieldsOf(schema), ...common }, schema.preserveUnknown ? { others: anyType } : {});
}

function fieldsOf(schema: Structural): Record<string, { type: MergeType; keyDefault?: never }> {
  const fields: Record<string, { type: MergeType; keyDefault?: never }> = {};
  for (const [name, inner] of schema.properties) {
    const { default: value } = inner;
    fields[name] = {
      type: typeOf(inner),
      ...(value !== undefined && typeof value !== "object" && { keyDefault: value as never }),
    };
  }
  return fields;
}

function typeOf(schema: Structural): MergeType {
  if (schema.intOrString) return { is: "scalar", of: "anything" };
  switch (schema.type) {
    case "string":
      return text;
    case "integer":
    case "number":
      return { is: "scalar", of: "number" };
    case "boolean":
      return { is: "scalar", of: "boolean" };
    case "array":
      return listOf(schema);
    case "object":
      return objectOf(schema);
    default:
      return anyType;
  }
}

function listOf(schema: Structural): MergeType {
  const of = schema.items ? typeOf(schema.items) : anyType;
  if (schema.listType === "map")
    return { is: "list", relation: "keyed", keys: [...schema.listKeys].sort(), of };
  return { is: "list", relation: schema.listType === "set" ? "set" : "atomic", keys: [], of };
}

function objectOf(schema: Structural): MergeType {
  const atomic = schema.mapType === "atomic";
  if (schema.additional && schema.properties.size === 0)
    return { is: "map", atomic, of: schema.additional.of ? typeOf(schema.additional.of) : anyType };
  const open = schema.preserveUnknown || schema.embedded;
  if (schema.properties.size === 0)
    return open && !atomic ? anyType : open ? { is: "map", atomic, of: anyType } : structType({}, { atomic });
  return structType(
    { ...fieldsOf(schema), ...(schema.embedded && commonFields()) },
    { atomic, ...(open && { others: anyType }) },
  );
}
