// Validates the keywords of a schema: rejected keywords, and extensions that must be consistent. Paths and
// errors are those of the reference.
import { type FieldError, type Steps, forbiddenField, invalidValue, notSupported, required } from "#base";
import type { Dialect } from "#dialect";
import { fieldPathOf } from "../structural/field-path.ts";
import { type SchemaProps, type ValidationRule, isObject, metaFields } from "../structural/structural.ts";

const types = ["array", "boolean", "integer", "number", "object", "string"];

interface Location {
  readonly dialect: Dialect;
  /** Why no default is allowed here; undefined if one is. */
  readonly noDefaults: string | undefined;
  readonly insideMetadata: boolean;
}

const keywordsOfMaps = ["properties", "definitions", "dependencies", "patternProperties"];
const keywordsOfLists = ["allOf", "anyOf", "oneOf"];
const keywordsOfOne = ["not", "additionalProperties", "additionalItems"];

type Below = readonly [schema: SchemaProps, path: string, keyword: string];
const none: readonly Below[] = [];

/** Returns the schemas directly below a schema, with their paths. */
export const schemasBelow = (schema: SchemaProps, path: string): Iterable<Below> =>
  isLeaf(schema) ? none : innerSchemas(schema, path);

/** Reports whether no keyword is an object or a list, which holds for most schemas. */
function isLeaf(schema: SchemaProps): boolean {
  for (const key in schema) if (typeof schema[key] === "object") return false;
  return true;
}

function* innerSchemas(schema: SchemaProps, path: string): Generator<Below, void> {
  for (const key of keywordsOfMaps) {
    const map = schema[key];
    if (!isObject(map)) continue;
    for (const [name, inner] of Object.entries(map))
      if (isObject(inner)) yield [inner, `${path}.${key}[${name}]`, key];
  }
  for (const key of keywordsOfLists) {
    const list = schema[key] as readonly SchemaProps[] | undefined;
    if (list) for (const [i, inner] of list.entries()) yield [inner, `${path}.${key}[${i}]`, key];
  }
  for (const key of keywordsOfOne) if (isObject(schema[key])) yield [schema[key], `${path}.${key}`, key];
  const { items } = schema;
  if (Array.isArray(items))
    for (const [i, inner] of items.entries()) yield [inner as SchemaProps, `${path}.items[${i}]`, "items"];
  else if (isObject(items)) yield [items, `${path}.items`, "items"];
}

export function* schemaRuleErrors(schema: SchemaProps, path: string, dialect: Dialect): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* walk(schema, path, { dialect, noDefaults: undefined, insideMetadata: false }, true, errors);
  return errors;
}

function* walk(
  schema: SchemaProps,
  path: string,
  location: Location,
  root: boolean,
  errors: FieldError[],
): Steps<void> {
  yield;
  const x = location.dialect.wire.extensionPrefix;
  keywordErrors(schema, path, location, errors);
  for (const [inner, below, key] of schemasBelow(schema, path)) {
    if (key === "patternProperties" || key === "additionalItems") continue;
    let next = location;
    if (key === "additionalProperties" && location.insideMetadata)
      next = { ...location, noDefaults: "inside additionalProperties applying to object metadata" };
    if (key === "properties" && (root || schema[`${x}embedded-resource`] === true)) {
      const name = lastKey(below);
      if (metaFields.has(name))
        next = { ...location, insideMetadata: true, ...(root && { noDefaults: `in top-level ${name}` }) };
    }
    yield* walk(inner, below, next, false, errors);
  }
  extensionErrors(schema, path, x, errors);
  listErrors(schema, path, x, errors);
  ruleTextErrors(schema, path, x, errors);
}

function keywordErrors(schema: SchemaProps, path: string, location: Location, errors: FieldError[]): void {
  const { type, default: value, items, additionalProperties: additional, properties } = schema;
  const x = location.dialect.wire.extensionPrefix;
  const refuse = (key: string, detail: string): void =>
    void errors.push(forbiddenField(`${path}.${key}`, detail));
  if (typeof type === "string" && type !== "" && !types.includes(type))
    errors.push(notSupported(`${path}.type`, type, types));
  if (value !== undefined && value !== null && location.noDefaults !== undefined)
    refuse("default", `must not be set ${location.noDefaults}`);
  if (schema["id"]) refuse("id", "id is not supported");
  for (const key of ["additionalItems", "patternProperties", "definitions", "dependencies", "$ref"])
    if (schema[key] !== undefined) refuse(key, `${key} is not supported`);
  if (type === "null") refuse("type", "type cannot be set to null, use nullable as an alternative");
  if (Array.isArray(items) && items.length > 0)
    refuse("items", "items must be a schema object and not an array");
  if (location.insideMetadata && schema[`${x}embedded-resource`] === true)
    refuse(`${x}embedded-resource`, "must not be used inside of resource meta");
  if (schema["uniqueItems"] === true)
    refuse("uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  if (
    additional !== undefined &&
    additional !== true &&
    isObject(properties) &&
    Object.keys(properties).length > 0
  )
    refuse("additionalProperties", "additionalProperties and properties are mutual exclusive");
}

function extensionErrors(schema: SchemaProps, path: string, x: string, errors: FieldError[]): void {
  const type = (schema["type"] as string | undefined) ?? "";
  if (schema[`${x}preserve-unknown-fields`] === false)
    errors.push(invalidValue(`${path}.${x}preserve-unknown-fields`, false, "must be true or undefined"));
  const fits = (key: string, wanted: string, values: readonly string[]): void => {
    const given = schema[`${x}${key}`] as string | undefined;
    if (given === undefined) return;
    const detail = `must be ${wanted} if ${x}${key} is specified`;
    if (type === "") errors.push(required(`${path}.type`, detail));
    else if (type !== wanted) errors.push(invalidValue(`${path}.type`, type, detail));
    if (!values.includes(given)) errors.push(notSupported(`${path}.${x}${key}`, given, values));
  };
  fits("map-type", "object", ["atomic", "granular"]);
  fits("list-type", "array", ["atomic", "set", "map"]);
}

function listErrors(schema: SchemaProps, path: string, x: string, errors: FieldError[]): void {
  const list = schema[`${x}list-type`] as string | undefined;
  const keys = (schema[`${x}list-map-keys`] as string[] | undefined) ?? [];
  const items = isObject(schema["items"]) ? schema["items"] : undefined;
  if (list === "set" && schema["type"] === "array" && items) atomicItemErrors(items, path, x, errors);
  if (keys.length > 0 && list === undefined)
    errors.push(required(`${path}.${x}list-type`, `must be map if ${x}list-map-keys is non-empty`));
  else if (keys.length > 0 && list !== "map")
    errors.push(invalidValue(`${path}.${x}list-type`, list, `must be map if ${x}list-map-keys is non-empty`));
  if (list === "map") mapErrors(schema, keys, path, x, errors);
  if (!items || (list !== "set" && list !== "map")) return;
  if (items["nullable"] === true)
    errors.push(forbiddenField(`${path}.items.nullable`, `cannot be nullable when ${x}list-type is ${list}`));
  if (list === "map") keyErrors(items, keys, path, x, errors);
}

/** Items of a set must be atomic. */
function atomicItemErrors(items: SchemaProps, path: string, x: string, errors: FieldError[]): void {
  const key =
    items["type"] === "array" && items[`${x}list-type`] !== undefined && items[`${x}list-type`] !== "atomic"
      ? "list-type"
      : items["type"] === "object" && items[`${x}map-type`] !== "atomic"
        ? "map-type"
        : undefined;
  if (key === undefined) return;
  const detail = `must be atomic as item of a list with ${x}list-type=set`;
  errors.push(invalidValue(`${path}.items.${x}${key}`, items[`${x}list-type`], detail));
}

function mapErrors(
  schema: SchemaProps,
  keys: readonly string[],
  path: string,
  x: string,
  errors: FieldError[],
): void {
  const { items } = schema;
  const location = `${path}.${x}list-map-keys`;
  if (keys.length === 0) errors.push(required(location, `must not be empty if ${x}list-type is map`));
  if (items === undefined || items === null) {
    errors.push(required(`${path}.items`, `must have a schema if ${x}list-type is map`));
    return;
  }
  if (!isObject(items)) {
    errors.push(
      invalidValue(`${path}.items`, items, `must only have a single schema if ${x}list-type is map`),
    );
    return;
  }
  if (items["type"] !== "object") {
    const detail = `must be object if parent array's ${x}list-type is map`;
    errors.push(invalidValue(`${path}.items.type`, items["type"] ?? "", detail));
    return;
  }
  const properties = (items["properties"] ?? {}) as Record<string, SchemaProps>;
  const seen = new Set<string>();
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) errors.push(invalidValue(location, keys, "entries must all be names of item properties"));
    else if (property["type"] === "array" || property["type"] === "object")
      errors.push(
        invalidValue(
          `${path}.items.properties[${key}].type`,
          items["type"],
          `must be a scalar type if parent array's ${x}list-type is map`,
        ),
      );
    if (seen.has(key)) errors.push(invalidValue(location, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
}

/** Map keys must be required or have a default. */
function keyErrors(
  items: SchemaProps,
  keys: readonly string[],
  path: string,
  x: string,
  errors: FieldError[],
): void {
  const properties = (items["properties"] ?? {}) as Record<string, SchemaProps>;
  const wanted = new Set(items["required"] as string[] | undefined);
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) continue;
    const location = `${path}.items.properties[${key}]`;
    const why = `this property is in ${x}list-map-keys, so it`;
    if (!wanted.has(key) && (property["default"] ?? undefined) === undefined)
      errors.push(required(`${location}.default`, `${why} must have a default or be a required property`));
    if (property["nullable"] === true)
      errors.push(forbiddenField(`${location}.nullable`, `${why} cannot be nullable`));
  }
}

const ruleReasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const lineBreak = /[\n\r]/;

function ruleTextErrors(schema: SchemaProps, path: string, x: string, errors: FieldError[]): void {
  const rules = (schema[`${x}validations`] as Partial<ValidationRule>[] | undefined) ?? [];
  rules.forEach(({ rule = "", message = "", messageExpression = "", reason, fieldPath = "" }, i) => {
    const location = `${path}.${x}validations[${i}]`;
    const [text, trimmedMessage] = [rule.trim(), message.trim()];
    if (text === "") errors.push(required(`${location}.rule`, "rule is not specified"));
    else if (message !== "" && trimmedMessage === "")
      errors.push(invalidValue(`${location}.message`, message, "message must be non-empty if specified"));
    else if (lineBreak.test(trimmedMessage))
      errors.push(invalidValue(`${location}.message`, message, "message must not contain line breaks"));
    else if (lineBreak.test(text) && trimmedMessage === "")
      errors.push(required(`${location}.message`, "message must be specified if rule contains line breaks"));
    if (messageExpression !== "" && messageExpression.trim() === "")
      errors.push(
        required(`${location}.messageExpression`, "messageExpression must be non-empty if specified"),
      );
    if (reason !== undefined && !ruleReasons.includes(reason))
      errors.push(notSupported(`${location}.reason`, reason, ruleReasons));
    if (fieldPath === "") return;
    const refusePath = (detail: string): void =>
      void errors.push(invalidValue(`${location}.fieldPath`, fieldPath, `fieldPath must ${detail}`));
    if (fieldPath.trim() === "") refusePath("be non-empty if specified");
    if (lineBreak.test(fieldPath)) refusePath("not contain line breaks");
    if (fieldPathOf(fieldPath, schema) === undefined) refusePath("be a valid path");
  });
}

/** Returns what is between the brackets at the end of a path; a name may contain an opening one. */
function lastKey(path: string): string {
  if (!path.endsWith("]")) return "";
  const start = path.indexOf("[", path.lastIndexOf("]", path.length - 2) + 1);
  return start < 0 ? "" : path.slice(start + 1, -1);
}
