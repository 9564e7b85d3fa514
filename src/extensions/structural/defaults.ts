// Defaults of a structural schema. A null that is not allowed counts as absent: it is dropped when an object
// is read, or replaced by the default.
import { deepCopy } from "#base";
import { knownMetadata } from "./prune.ts";
import { type Structural, isObject, under } from "./structural.ts";

const fillers = new WeakMap<Structural, boolean>();

/** Reports whether the schema or any schema below has a default. */
function hasDefaults(schema: Structural): boolean {
  const known = fillers.get(schema);
  if (known !== undefined) return known;
  const inner = [...schema.properties.values(), schema.items, schema.additional?.of];
  const found = inner.some((each) => each && (each.default !== undefined || hasDefaults(each)));
  fillers.set(schema, found);
  return found;
}

export function applyStructuralDefaults(value: unknown, schema: Structural): void {
  if (hasDefaults(schema)) fill(value, schema);
}

const isUnwantedNull = (value: unknown, schema: Structural | undefined): boolean =>
  value === null && schema !== undefined && !schema.nullable;

export function dropNulls(value: unknown, schema: Structural | undefined): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item, schema?.items);
  else if (isObject(value))
    for (const key in value) {
      const given = value[key];
      if (given === null) {
        const inner = under(schema, key);
        if (isUnwantedNull(given, inner) && inner!.default === undefined) delete value[key];
      } else if (typeof given === "object") dropNulls(given, under(schema, key));
    }
}

function fill(value: unknown, schema: Structural | undefined): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    for (let i = 0; i < value.length; i++) {
      if (isUnwantedNull(value[i], items)) value[i] = copy(items!.default ?? null);
      fill(value[i], items);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, inner] of schema.properties) {
    if (inner.default === undefined) continue;
    if (!Object.hasOwn(value, key) || isUnwantedNull(value[key], inner)) value[key] = copy(inner.default);
  }
  for (const key in value) {
    const inner = schema.properties.get(key);
    if (!inner && schema.additional?.of && isUnwantedNull(value[key], schema.additional.of))
      value[key] = copy(schema.additional.of.default ?? null);
    fill(value[key], inner ?? schema.additional?.of);
  }
  // Defaults may set fields that metadata does not have.
  if (schema.embedded && isObject(value["metadata"]))
    value["metadata"] = knownMetadata(value["metadata"], "metadata");
}

const copy = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? deepCopy(value) : value;
