// Fields of custom resources that field selectors may use: their paths in a definition, and their values.
import type { CustomResourceDefinitionVersion, SelectableField } from "#api";
import { type FieldError, duplicate, invalidValue, required, tooMany } from "#base";
import { pathTokens } from "../structural/field-path.ts";
import { type SchemaProps, isObject } from "../structural/structural.ts";

const maxFields = 8;
const selectableTypes: ReadonlySet<unknown> = new Set(["string", "boolean", "integer"]);

export function selectableErrors(
  fields: readonly SelectableField[],
  schema: SchemaProps,
  at: string,
): FieldError[] {
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath }, position) => {
    const field = `${at}[${position}].jsonPath`;
    if (jsonPath === "") return [required(field)];
    const found = resolvePath(jsonPath, schema);
    if (typeof found === "string") return [invalidValue(field, jsonPath, `is an invalid path: ${found}`)];
    const wrong: FieldError[] = [];
    if (found.names[0] === "metadata")
      wrong.push(invalidValue(field, jsonPath, "must not point to fields in metadata"));
    if (!selectableTypes.has(found.schemas.at(-1)!["type"]))
      wrong.push(
        invalidValue(
          field,
          jsonPath,
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
      );
    if (seen.has(found.names.join("."))) wrong.push(duplicate(field, jsonPath));
    seen.add(found.names.join("."));
    return wrong;
  });
  return seen.size > maxFields ? [...errors, tooMany(at, seen.size, maxFields)] : errors;
}

interface ResolvedPath {
  readonly names: readonly string[];
  /** The schema of the field after those of the objects that contain it. */
  readonly schemas: readonly SchemaProps[];
}

/** Returns the names and schemas on a path, or what is wrong with it. */
function resolvePath(path: string, schema: SchemaProps): ResolvedPath | string {
  const tokens = pathTokens(path);
  const names: string[] = [];
  const schemas: SchemaProps[] = [];
  let at = schema;
  for (let i = 0; i < tokens.length; i += 2) {
    if (tokens[i] === "[") return "array notation is not allowed";
    if (tokens[i] !== ".") return `expected [ or . but got: ${tokens[i]}`;
    const name = tokens[i + 1];
    if (name === undefined) return "unexpected end of JSON path";
    const { properties, additionalProperties } = at;
    const hasProperties = isObject(properties) && Object.keys(properties).length > 0;
    const next = hasProperties ? Object.hasOwn(properties, name) && properties[name] : additionalProperties;
    if (!isObject(next)) return "does not refer to a valid field";
    names.push(name);
    schemas.push((at = next as SchemaProps));
  }
  return { names, schemas };
}

/** The names of the fields of a version, as selectors use them. */
export const selectableNames = ({ selectableFields }: CustomResourceDefinitionVersion): readonly string[] =>
  (selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ""));

/**
 * Returns a function that finds the values of the fields of a version. Stored objects may lack defaults that
 * the definition got later: then they are applied first.
 */
export function selectableValues(
  version: CustomResourceDefinitionVersion,
  applyDefaults: (object: Record<string, unknown>) => void,
): (object: object) => Record<string, string> {
  const schema = (version.schema?.openAPIV3Schema ?? {}) as SchemaProps;
  const fields = selectableNames(version).map((name) => {
    const path = resolvePath(`.${name}`, schema);
    const schemas = typeof path === "string" ? [] : path.schemas;
    const hasDefault = schemas.some((each) => (each["default"] ?? undefined) !== undefined);
    return { name, path: name.split("."), hasDefault };
  });
  return (object) => {
    let complete: object | undefined;
    const withDefaults = (): object => {
      if (complete) return complete;
      complete = structuredClone(object);
      applyDefaults(complete as Record<string, unknown>);
      return complete;
    };
    return Object.fromEntries(
      fields.map(({ name, path, hasDefault }) => {
        const value = valueAt(object, path) ?? (hasDefault ? valueAt(withDefaults(), path) : undefined);
        return [name, value === undefined || value === null ? "" : String(value)];
      }),
    );
  };
}

const valueAt = (object: object, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    object,
  );
