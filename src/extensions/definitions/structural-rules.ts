// Checks that a schema is structural: the fields of an object can be determined without evaluating
// alternatives. Types must be outside of alternatives, and so must everything that alternatives mention.
import { type FieldError, type Steps, fieldErrorText, forbiddenField, invalidValue, required } from "#base";
import { compilePattern } from "#cel";
import type { Dialect } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import { type SchemaProps, isObject } from "../structural/structural.ts";
import { schemasBelow } from "./schema-rules.ts";

type Level = "root" | "item" | "field";

/** Returns why the schema cannot be converted to a structural one at all; undefined if it can. */
export function* notStructural(schema: SchemaProps, x: string): Steps<string | undefined> {
  yield;
  for (const key of [
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
  ])
    if (schema[key] !== undefined && schema[key] !== "")
      return `OpenAPIV3Schema '${key === "$schema" ? "schema" : key}' is not supported`;
  if (Array.isArray(schema["items"])) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema[`${x}preserve-unknown-fields`] === false)
    return `'${x}preserve-unknown-fields' must be true or undefined`;
  for (const [inner] of schemasBelow(schema, "")) {
    const reason = yield* notStructural(inner, x);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export function* structuralErrors(schema: SchemaProps, path: string, dialect: Dialect): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* invariants(schema, "root", path, dialect.wire.extensionPrefix, errors);
  yield* complete(schema, schema, path, path, errors);
  return errors
    .map((error) => ({ error, text: fieldErrorText(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ error }) => error);
}

const propertiesOf = (schema: SchemaProps): Record<string, SchemaProps> =>
  (schema["properties"] ?? {}) as Record<string, SchemaProps>;

function* invariants(
  schema: SchemaProps,
  level: Level,
  path: string,
  x: string,
  errors: FieldError[],
): Steps<void> {
  yield;
  const type = (schema["type"] as string | undefined) ?? "";
  const { items, additionalProperties: additional } = schema;
  const is = (extension: string): boolean => schema[`${x}${extension}`] === true;
  if (type === "array" && !isObject(items)) errors.push(required(`${path}.items`, "must be specified"));
  if (isObject(items)) yield* invariants(items, "item", `${path}.items`, x, errors);
  for (const [name, inner] of Object.entries(propertiesOf(schema)))
    yield* invariants(inner, "field", `${path}.properties[${name}]`, x, errors);
  if (additional !== undefined && level === "root")
    errors.push(forbiddenField(`${path}.additionalProperties`, "must not be used at the root"));
  if (isObject(additional)) yield* invariants(additional, "field", `${path}.additionalProperties`, x, errors);
  for (const extension of ["preserve-unknown-fields", "embedded-resource"])
    if (is("int-or-string") && is(extension))
      errors.push(
        invalidValue(`${path}.${x}${extension}`, true, `must be false if ${x}int-or-string is true`),
      );
  yield* values(schema, intOrString(schema), path, x, errors);
  const objectIf = `must be object if ${x}embedded-resource is true`;
  if (is("embedded-resource") && type !== "object")
    errors.push(
      type === "" ? required(`${path}.type`, objectIf) : invalidValue(`${path}.type`, type, objectIf),
    );
  else if (type === "" && !is("int-or-string") && !is("preserve-unknown-fields"))
    errors.push(required(`${path}.type`, untyped[level]));
  if (is("embedded-resource") && additional !== undefined)
    errors.push(
      forbiddenField(`${path}.additionalProperties`, `must not be used if ${x}embedded-resource is set`),
    );
  if (level === "root" && type !== "" && type !== "object")
    errors.push(invalidValue(`${path}.type`, type, "must be object at the root"));
  metadata(schema, level, path, is("embedded-resource"), errors);
  if (
    is("embedded-resource") &&
    !is("preserve-unknown-fields") &&
    Object.keys(propertiesOf(schema)).length === 0
  )
    errors.push(
      required(
        `${path}.properties`,
        `must not be empty if ${x}embedded-resource is true without ${x}preserve-unknown-fields`,
      ),
    );
}

const untyped: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** Kind, apiVersion and metadata have fixed types; at the root only names may be restricted. */
function metadata(
  schema: SchemaProps,
  level: Level,
  path: string,
  embedded: boolean,
  errors: FieldError[],
): void {
  const properties = propertiesOf(schema);
  const checked = level === "root" || embedded;
  for (const name of ["kind", "apiVersion"]) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property && checked && property["type"] !== "string")
      errors.push(invalidValue(`${path}.properties[${name}].type`, property["type"] ?? "", "must be string"));
  }
  const meta = Object.hasOwn(properties, "metadata") ? properties["metadata"] : undefined;
  if (!meta) return;
  const location = `${path}.properties[metadata]`;
  if (checked && meta["type"] !== "object")
    errors.push(invalidValue(`${location}.type`, meta["type"] ?? "", "must be object"));
  if (level !== "root") return;
  const names = Object.keys(propertiesOf(meta));
  const { type: _type, default: _default, properties: _properties, ...rest } = meta;
  if (Object.keys(rest).length > 0 || names.some((name) => name !== "name" && name !== "generateName"))
    errors.push(
      forbiddenField(
        location,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
}

const integerOrString = [{ type: "integer" }, { type: "string" }];

/** The two ways in which alternatives may state types, equivalent to the int-or-string extension. */
function intOrString(schema: SchemaProps): { readonly anyOf: boolean; readonly firstAllOf: boolean } {
  const [first] = (schema["allOf"] as SchemaProps[] | undefined) ?? [];
  return {
    anyOf: isDeepStrictEqual(schema["anyOf"], integerOrString),
    firstAllOf: first !== undefined && isDeepStrictEqual(first["anyOf"], integerOrString),
  };
}

function* values(
  schema: SchemaProps,
  skip: { readonly anyOf: boolean; readonly firstAllOf: boolean },
  path: string,
  x: string,
  errors: FieldError[],
): Steps<void> {
  for (const key of ["anyOf", "allOf", "oneOf"]) {
    if (key === "anyOf" && skip.anyOf) continue;
    for (const [i, inner] of ((schema[key] as SchemaProps[] | undefined) ?? []).entries())
      yield* nested(inner, key === "allOf" && i === 0 && skip.firstAllOf, `${path}.${key}[${i}]`, x, errors);
  }
  if (isObject(schema["not"])) yield* nested(schema["not"], false, `${path}.not`, x, errors);
  const { pattern } = schema;
  if (typeof pattern !== "string" || pattern === "") return;
  const compiled = compilePattern(pattern);
  if ("error" in compiled)
    errors.push(
      invalidValue(
        `${path}.pattern`,
        pattern,
        `must be a valid regular expression, but isn't: ${compiled.error}`,
      ),
    );
}

/** Unlike the others, this keyword is significant even if false. */
const whenDefined = "additionalProperties";
const forbiddenKeys: readonly [key: string, detail: string][] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
];
const forbiddenExtensions: readonly [key: string, detail: string][] = [
  ["preserve-unknown-fields", "must be false to be structural"],
  ["embedded-resource", "must be false to be structural"],
  ["int-or-string", "must be false to be structural"],
  ["list-map-keys", "must be empty to be structural"],
  ["list-type", "must be undefined to be structural"],
  ["map-type", "must be undefined to be structural"],
  ["validations", "must be empty to be structural"],
];

function* nested(
  schema: SchemaProps,
  skipAnyOf: boolean,
  path: string,
  x: string,
  errors: FieldError[],
): Steps<void> {
  yield;
  yield* values(schema, { anyOf: skipAnyOf, firstAllOf: false }, path, x, errors);
  if (isObject(schema["items"])) yield* nested(schema["items"], false, `${path}.items`, x, errors);
  const properties = propertiesOf(schema);
  for (const [name, inner] of Object.entries(properties))
    yield* nested(inner, false, `${path}.properties[${name}]`, x, errors);
  for (const [key, detail] of forbiddenKeys)
    if (schema[key] !== undefined && (schema[key] !== false || key === whenDefined) && schema[key] !== "")
      errors.push(forbiddenField(`${path}.${key}`, detail));
  for (const [key, detail] of forbiddenExtensions)
    if (schema[`${x}${key}`] !== undefined && schema[`${x}${key}`] !== false)
      errors.push(forbiddenField(`${path}.${x}${key}`, detail));
  if (Object.hasOwn(properties, "metadata"))
    errors.push(forbiddenField(`${path}.properties[metadata]`, "must not be specified in a nested context"));
}

/** Checks that everything an alternative mentions also occurs outside of it. */
function* complete(
  alternative: SchemaProps,
  outside: SchemaProps | undefined,
  at: string,
  from: string,
  errors: FieldError[],
): Steps<void> {
  const named = function* (inner: SchemaProps, location: string): Steps<void> {
    yield;
    yield* complete(inner, outside, at, location, errors);
    if (!outside) return;
    if (isObject(inner["items"])) {
      const items = isObject(outside["items"]) ? outside["items"] : undefined;
      if (!items) errors.push(required(`${at}.items`, `because it is defined in ${location}.items`));
      else yield* nestedComplete(inner["items"], items, `${at}.items`, `${location}.items`, errors);
    }
    for (const [name, property] of Object.entries(propertiesOf(inner))) {
      const known = propertiesOf(outside);
      const [here, there] = [`${at}.properties[${name}]`, `${location}.properties[${name}]`];
      if (!Object.hasOwn(known, name)) errors.push(required(here, `because it is defined in ${there}`));
      else yield* nestedComplete(property, known[name]!, here, there, errors);
    }
  };
  if (isObject(alternative["not"])) yield* named(alternative["not"], `${from}.not`);
  for (const key of ["allOf", "anyOf", "oneOf"])
    for (const [i, inner] of ((alternative[key] as SchemaProps[] | undefined) ?? []).entries())
      yield* named(inner, `${from}.${key}[${i}]`);
}

function* nestedComplete(
  inner: SchemaProps,
  outside: SchemaProps,
  at: string,
  from: string,
  errors: FieldError[],
): Steps<void> {
  const wrapped = { allOf: [inner] };
  const before = errors.length;
  yield* complete(wrapped, outside, at, from, errors);
  // The allOf wrapper is added here, not part of the definition.
  for (let i = before; i < errors.length; i++)
    errors[i] = { ...errors[i]!, detail: errors[i]!.detail.replace(`${from}.allOf[0]`, from) };
}
