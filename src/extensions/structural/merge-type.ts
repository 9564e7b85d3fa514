// The merge types of custom resources for server-side apply, from the list and map types of their schema.
import { ObjectMeta } from "#api";
import { type MergeType, anyType, mergeTypeOf, structType } from "#schema";
import type { Structural } from "./structural.ts";

const text: MergeType = { is: "scalar", of: "string" };
const anything: MergeType = { is: "scalar", of: "anything" };

/** The fields that every object has. */
const commonFields = () => ({
  apiVersion: { type: text },
  kind: { type: text },
  metadata: { type: mergeTypeOf(ObjectMeta) },
});

/** Returns the merge type of the whole object: the fields of its schema and those that every object has. */
export function objectMergeType(schema: Structural | undefined): MergeType {
  const common = commonFields();
  if (!schema) return structType(common, { others: anyType });
  return structType(
    { ...fieldsOf(schema, schema.preserveUnknown), ...common },
    schema.preserveUnknown ? { others: anyType } : {},
  );
}

/**
 * Returns the fields of a schema; `keep` means that unknown fields are preserved here and in everything
 * below.
 */
function fieldsOf(
  schema: Structural,
  keep: boolean,
): Record<string, { type: MergeType; keyDefault?: never }> {
  const fields: Record<string, { type: MergeType; keyDefault?: never }> = {};
  for (const [name, inner] of schema.properties) {
    const { default: value } = inner;
    fields[name] = {
      type: typeOf(inner, keep),
      ...(value !== undefined && typeof value !== "object" && { keyDefault: value as never }),
    };
  }
  return fields;
}

function typeOf(schema: Structural, keep: boolean): MergeType {
  if (schema.intOrString) return anything;
  switch (schema.type) {
    case "string":
      // A format may represent a non-string value; kube-apiserver does not check these.
      return [undefined, "", "byte"].includes(schema.props["format"] as string | undefined) ? text : anything;
    case "integer":
    case "number":
      return { is: "scalar", of: "number" };
    case "boolean":
      return { is: "scalar", of: "boolean" };
    case "array":
      return listOf(schema, keep);
    case "object":
      return objectOf(schema, keep);
    default:
      return anyType;
  }
}

function listOf(schema: Structural, keep: boolean): MergeType {
  const of = schema.items ? typeOf(schema.items, keep || schema.preserveUnknown) : anyType;
  if (schema.listType === "map")
    return { is: "list", relation: "keyed", keys: [...schema.listKeys].sort(), of };
  return { is: "list", relation: schema.listType === "set" ? "set" : "atomic", keys: [], of };
}

function objectOf(schema: Structural, inherited: boolean): MergeType {
  const atomic = schema.mapType === "atomic";
  const keep = inherited || schema.preserveUnknown;
  if (schema.additional && schema.properties.size === 0)
    return { is: "map", atomic, of: schema.additional.of ? typeOf(schema.additional.of, keep) : anyType };
  if (schema.properties.size === 0 && !schema.embedded) return { is: "map", atomic, of: anyType };
  return structType(
    { ...fieldsOf(schema, keep), ...(schema.embedded && commonFields()) },
    { atomic, ...((keep || schema.embedded) && { others: anyType }) },
  );
}
