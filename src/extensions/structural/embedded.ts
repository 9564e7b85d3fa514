// Validates embedded objects: they must state their type and have valid metadata.
import type { ObjectMeta } from "#api";
import { type FieldError, invalidValue, required, untypedValue } from "#base";
import { pathSegment, validateMeta } from "#registry";
import { dns1035LabelProblems } from "#schema";
import { type Structural, isObject, under } from "./structural.ts";

/**
 * Validates the embedded objects in a value; `root` means that the value is a whole object, whatever its
 * schema states.
 */
export function embeddedErrors(
  value: unknown,
  schema: Structural | undefined,
  path = "",
  root = false,
): FieldError[] {
  const errors: FieldError[] = [];
  if (root && isObject(value)) errors.push(...typeErrors(value, path));
  walk(value, schema, path, errors);
  return errors;
}

function walk(value: unknown, schema: Structural | undefined, path: string, errors: FieldError[]): void {
  if (!schema || (!schema.embedded && !schema.hasEmbedded)) return;
  if (Array.isArray(value)) value.forEach((item, i) => walk(item, schema.items, `${path}[${i}]`, errors));
  else if (isObject(value)) {
    if (schema.embedded) errors.push(...typeErrors(value, path));
    for (const key in value) {
      const location = schema.properties.has(key) ? below(path, key) : `${path}[${key}]`;
      walk(value[key], under(schema, key), location, errors);
    }
  }
}

const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

function typeErrors(value: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["apiVersion", "kind"] as const) {
    const location = below(path, key);
    const given = value[key];
    if (!Object.hasOwn(value, key)) errors.push(required(location, "must not be empty"));
    else if (typeof given !== "string")
      errors.push(invalidValue(location, untypedValue(given), "must be a string"));
    else if (given === "") errors.push(invalidValue(location, given, "must not be empty"));
    else if (key === "apiVersion" && given.split("/").length > 2)
      errors.push(invalidValue(location, given, `unexpected GroupVersion string: ${given}`));
    else if (key === "kind") {
      const problems = dns1035LabelProblems(given.toLowerCase());
      if (problems.length > 0)
        errors.push(
          invalidValue(
            location,
            given,
            `may have mixed case, but should otherwise match: ${problems.join(",")}`,
          ),
        );
    }
  }
  if (isObject(value["metadata"])) {
    const meta = { name: "fakename", ...value["metadata"] } as unknown as ObjectMeta;
    errors.push(...validateMeta(meta, Boolean(meta.namespace), pathSegment, below(path, "metadata")));
  }
  return errors;
}
