// Lists of type set or map must not contain duplicate items or keys.
import { type FieldError, duplicate, invalidValue, maxFieldErrors, untypedValue } from "#base";
import { stringifyJson } from "#schema";
import { type Structural, isObject } from "./structural.ts";

/** Reports whether the schema or any schema below is such a list; values without any are not walked. */
const known = new WeakMap<Structural, boolean>();
function hasUnique(schema: Structural): boolean {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const own = schema.listType === "set" || schema.listType === "map";
  const inner = [...schema.properties.values(), schema.items, schema.additional?.of];
  const answer = own || inner.some((each) => each !== undefined && hasUnique(each));
  known.set(schema, answer);
  return answer;
}

export function listTypeErrors(value: unknown, schema: Structural | undefined, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  walk(value, schema, path, errors);
  return errors;
}

function walk(value: unknown, schema: Structural | undefined, path: string, errors: FieldError[]): void {
  if (!schema || errors.length > maxFieldErrors || !hasUnique(schema)) return;
  if (Array.isArray(value)) {
    if (schema.listType === "set") setErrors(value, path, errors);
    else if (schema.listType === "map") mapErrors(value, schema.listKeys, path, errors);
    value.forEach((item, i) => walk(item, schema.items, `${path}[${i}]`, errors));
  } else if (isObject(value)) {
    for (const key in value) {
      const named = schema.properties.get(key);
      const location = path === "" ? key : `${path}.${key}`;
      if (named) walk(value[key], named, location, errors);
      else if (schema.additional?.of) walk(value[key], schema.additional.of, `${path}[${key}]`, errors);
    }
  }
}

/** Returns the positions at which a key occurs for the second time. */
function repeated(keys: readonly unknown[]): number[] {
  const times = new Map<unknown, number>();
  const found: number[] = [];
  keys.forEach((key, i) => {
    const id = typeof key === "object" && key !== null ? stringifyJson(key) : key;
    const before = times.get(id) ?? 0;
    times.set(id, before + 1);
    if (before === 1) found.push(i);
  });
  return found;
}

function setErrors(items: readonly unknown[], path: string, errors: FieldError[]): void {
  for (const i of repeated(items)) errors.push(duplicate(`${path}[${i}]`, untypedValue(items[i])));
}

function mapErrors(
  items: readonly unknown[],
  names: readonly string[],
  path: string,
  errors: FieldError[],
): void {
  const odd = items.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0) {
    errors.push(
      invalidValue(
        `${path}[${odd}]`,
        untypedValue(items[odd]),
        "must be an object for an array of list-type map",
      ),
    );
    return;
  }
  const keys = items.map((item) =>
    Object.fromEntries(
      names.flatMap((name) => (isObject(item) && Object.hasOwn(item, name) ? [[name, item[name]]] : [])),
    ),
  );
  for (const i of repeated(keys)) errors.push(duplicate(`${path}[${i}]`, untypedValue(keys[i])));
}
