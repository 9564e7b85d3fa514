// Drops metadata of the wrong type from a stored object and the objects embedded in it. Such objects were
// stored before metadata was validated, and must stay readable so that they can be fixed or deleted.
import { ObjectMeta } from "#api";
import { DecodeError, fromJsonValue } from "#schema";
import { type Structural, isObject, under } from "./structural.ts";

/** Drops malformed metadata in place. */
export function dropMalformed(object: Record<string, unknown>, schema: Structural | undefined): void {
  dropMalformedFields(object);
  walk(object, schema);
}

function walk(value: unknown, schema: Structural | undefined): void {
  if (!schema || (!schema.embedded && !schema.hasEmbedded)) return;
  if (Array.isArray(value)) for (const item of value) walk(item, schema.items);
  else if (isObject(value)) {
    if (schema.embedded) dropMalformedFields(value);
    for (const key in value) walk(value[key], under(schema, key));
  }
}

function dropMalformedFields(object: Record<string, unknown>): void {
  for (const key of ["apiVersion", "kind"])
    if (Object.hasOwn(object, key) && typeof object[key] !== "string") delete object[key];
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return;
  if (!isObject(metadata)) {
    delete object["metadata"];
    return;
  }
  object["metadata"] = Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => isWellFormed({ [key]: value })),
  );
}

function isWellFormed(metadata: Record<string, unknown>): boolean {
  try {
    fromJsonValue(ObjectMeta, metadata);
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}
