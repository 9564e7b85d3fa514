// Validates values against a schema, compiled once to closures. Errors are those of the reference: if all
// alternatives fail, the one with the most successful checks is reported.
import {
  type FieldError,
  fieldErrorText,
  goSyntax,
  invalidValue,
  maxFieldErrors,
  notSupported,
  required,
  tooLong,
  tooMany,
  untypedValue,
} from "#base";
import { isDeepStrictEqual } from "node:util";
import { type Pattern, compilePattern } from "#cel";
import type { Dialect } from "#dialect";
import { stringifyJson } from "#schema";
import { formatCheck } from "./formats.ts";
import { type SchemaProps, isObject, limit } from "./structural.ts";

/**
 * The errors found, and the number of successful checks, by which the reference chooses among alternatives.
 */
export interface Findings {
  readonly errors: FieldError[];
  matches: number;
}
export type ValueCheck = (value: unknown, path: string, found: Findings) => void;

/** The path Go prints for errors that the reference reports without one. */
export const nowhere = "<nil>";

const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "FieldValueTypeInvalid",
  field,
  value,
  detail,
});

/** Returns the validation errors of a value. */
export function valueErrors(check: ValueCheck, value: unknown, path: string): FieldError[] {
  const found: Findings = { errors: [], matches: 0 };
  check(value, path, found);
  if (found.errors.length === 0) return found.errors;
  // An error found by several parts of a schema is reported once. Below a map at the root, the path in a
  // message starts with a dot, but the field does not.
  return [...new Map(found.errors.map((error) => [fieldErrorText(error), error])).values()].map((error) =>
    error.field.startsWith(".") ? { ...error, field: error.field.slice(1) } : error,
  );
}

const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** Options for compiling a schema. */
export interface CompileOptions {
  readonly dialect: Dialect;
  /** Whether int-or-string fields accept any value, as they do in defaults. */
  readonly anyIntOrString?: boolean;
}

/** Compiles a schema. Nested schemas are compiled on first use. */
export function compileValues(props: SchemaProps, options: CompileOptions): ValueCheck {
  const check = checkType(props, options);
  const parts = [
    combined(props, options),
    checkString(props),
    checkFormat(props),
    checkNumber(props),
    checkList(props, options),
    checkEnum(props),
    checkObject(props, options),
  ].filter((part) => part !== undefined);
  const whenNull = checkEnum(props);
  return (value, path, found) => {
    if (found.errors.length > maxFieldErrors) return;
    if (value === null || value === undefined) {
      check?.(null, path, found);
      whenNull?.(null, path, found);
      return;
    }
    const before = found.errors.length;
    check?.(value, path, found);
    for (const part of parts) part(value, path, found);
    found.matches += parts.length + (found.errors.length === before ? 2 : 1);
  };
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "number":
      // Integers beyond the safe range are decoded as bigints, so such a number is a double.
      return Number.isSafeInteger(value) ? "integer" : "number";
    case "bigint":
      return "integer";
    default:
      return typeof value;
  }
}

function checkType(props: SchemaProps, { dialect, anyIntOrString }: CompileOptions): ValueCheck | undefined {
  const intOrString = !anyIntOrString && props[`${dialect.wire.extensionPrefix}int-or-string`] === true;
  const type = props["type"] as string | undefined;
  const types = intOrString ? ["integer", "string"] : type ? [type] : [];
  const nullable = props["nullable"] === true;
  const named = (props["format"] as string | undefined) ?? "";
  const format = formatCheck(named) !== undefined;
  if (types.length === 0) return undefined;
  const numeric = types.includes("number") || types.includes("integer");
  return (value, path, found) => {
    const given = typeOf(value);
    if (given === "null") {
      if (!nullable) found.errors.push(mustBe(path, types, given));
      return;
    }
    // A known format replaces the type check for strings and lists.
    if (format && !numeric && (given === "string" || given === "array")) return;
    if (types.includes(given) || (given === "integer" && types.includes("number"))) return;
    const reportFormat = format && given !== "string" && given !== "array";
    found.errors.push(
      reportFormat ? mustBe(path, [named], formats[given] ?? "") : mustBe(path, types, given),
    );
  };
}

/** Format of a number by its type: if the schema has a format, type errors refer to formats. */
const formats: Readonly<Record<string, string>> = { integer: "int64", number: "float64" };

/** Such an error shows the value's type in place of the value. */
const mustBe = (path: string, types: readonly string[], given: string): FieldError =>
  typeInvalid(path, given, `${path} in body must be of type ${types.join(",")}: "${given}"`);

function combined(props: SchemaProps, options: CompileOptions): ValueCheck | undefined {
  const compiled = (key: string): readonly ValueCheck[] =>
    ((props[key] as SchemaProps[] | undefined) ?? []).map((inner) => compileValues(inner, options));
  const [anyOf, oneOf, allOf] = [compiled("anyOf"), compiled("oneOf"), compiled("allOf")];
  const not = props["not"] ? compileValues(props["not"] as SchemaProps, options) : undefined;
  if (anyOf.length + oneOf.length + allOf.length === 0 && !not) return undefined;
  const say = (path: string, found: Findings, text: string): void =>
    void found.errors.push(invalidValue(nowhere, "", `"${path}" ${text}`));
  return (value, path, found) => {
    if (anyOf.length > 0) {
      const results = tried(anyOf, value, path, true);
      if (!results.some(isValid)) say(path, found, "must validate at least one schema (anyOf)");
      merge(found, results.find(isValid) ?? best(results));
    }
    if (oneOf.length > 0) {
      const results = tried(oneOf, value, path, false);
      const valid = results.filter(isValid).length;
      if (valid === 1) merge(found, results.find(isValid)!);
      else {
        const how = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
        say(path, found, `must validate one and only one schema (oneOf). ${how}`);
        if (valid === 0) merge(found, best(results));
      }
    }
    if (allOf.length > 0) {
      const results = tried(allOf, value, path, false);
      for (const result of results) merge(found, result);
      const how = results.some(isValid) ? "" : ". None validated";
      if (!results.every(isValid)) say(path, found, `must validate all the schemas (allOf)${how}`);
    }
    if (not && isValid(tried([not], value, path, true)[0]!))
      say(path, found, "must not validate the schema (not)");
  };
}

const isValid = ({ errors }: Findings): boolean => errors.length === 0;

function tried(checks: readonly ValueCheck[], value: unknown, path: string, untilValid: boolean): Findings[] {
  const results: Findings[] = [];
  for (const check of checks) {
    const result: Findings = { errors: [], matches: 0 };
    check(value, path, result);
    results.push(result);
    if (untilValid && isValid(result)) break;
  }
  return results;
}

const best = (results: readonly Findings[]): Findings =>
  results.reduce((one, other) => (other.matches > one.matches ? other : one));

function merge(found: Findings, other: Findings): void {
  found.errors.push(...other.errors);
  found.matches += other.matches;
}

function checkString(props: SchemaProps): ValueCheck | undefined {
  const [minLength, maxLength] = [limit(props, "minLength"), limit(props, "maxLength")];
  const source = (props["pattern"] as string | undefined) ?? "";
  if (minLength === undefined && maxLength === undefined && source === "") return undefined;
  let pattern: Pattern | undefined;
  const matches = (text: string): boolean => {
    if (!pattern) {
      const compiled = compilePattern(source);
      if ("error" in compiled) return false;
      ({ pattern } = compiled);
    }
    try {
      return pattern.test(text);
    } catch {
      return false; // the pattern costs more than a string may
    }
  };
  return (value, path, found) => {
    if (typeof value !== "string") return;
    // Only the first failing check is reported.
    if (maxLength !== undefined && isLonger(value, maxLength))
      found.errors.push({
        ...tooLong(path, value, maxLength),
        detail: maxLength < 0 ? "value is too long" : `may not be longer than ${maxLength}`,
      });
    else if (minLength !== undefined && !isLonger(value, minLength - 1))
      found.errors.push(
        invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`),
      );
    else if (source !== "" && !matches(value))
      found.errors.push(invalidValue(path, value, `${path} in body should match '${source}'`));
  };
}

/** Reports whether a string exceeds a number of characters, which may be fewer than its code units. */
function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (most < 0) return true;
  let count = 0;
  for (const _ of text) if (++count > most) return true;
  return false;
}

function checkFormat(props: SchemaProps): ValueCheck | undefined {
  const format = (props["format"] as string | undefined) ?? "";
  const fits = formatCheck(format);
  if (!fits) return undefined;
  return (value, path, found) => {
    if (typeof value === "string" && !fits(value))
      found.errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: "${value}"`));
  };
}

function checkNumber(props: SchemaProps): ValueCheck | undefined {
  const { minimum, maximum, multipleOf } = props as {
    minimum?: number;
    maximum?: number;
    multipleOf?: number;
  };
  if (minimum === undefined && maximum === undefined && multipleOf === undefined) return undefined;
  const [above, under] = [props["exclusiveMinimum"] === true, props["exclusiveMaximum"] === true];
  return (value, path, found) => {
    if (typeof value !== "number" && typeof value !== "bigint") return;
    // For integers kube-apiserver truncates the bound to an integer.
    const whole = typeOf(value) === "integer";
    const bound = (given: number): number => (whole ? Math.trunc(given) : given);
    const say = (text: string): void =>
      void found.errors.push(invalidValue(path, value, `${path} in body should be ${text}`));
    if (multipleOf !== undefined) {
      const factor = bound(multipleOf);
      if (factor <= 0)
        found.errors.push(
          invalidValue(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`),
        );
      else if (!isMultiple(value, factor)) say(`a multiple of ${factor}`);
    }
    if (maximum !== undefined && (under ? value >= bound(maximum) : value > bound(maximum)))
      say(`less than ${under ? "" : "or equal to "}${bound(maximum)}`);
    if (minimum !== undefined && (above ? value <= bound(minimum) : value < bound(minimum)))
      say(`greater than ${above ? "" : "or equal to "}${bound(minimum)}`);
  };
}

/** Permits a relative error of 1e-9 above a multiple and none below, as kube-apiserver does. */
function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === "bigint") return value % BigInt(factor) === 0n;
  if (Number.isSafeInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  if (Math.abs(times) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(times);
  return times === whole || (whole > 0 && (times - whole) / (times + whole) < 1e-9);
}

function checkList(props: SchemaProps, options: CompileOptions): ValueCheck | undefined {
  const [minItems, maxItems] = [limit(props, "minItems"), limit(props, "maxItems")];
  const { items, uniqueItems } = props as { items?: SchemaProps; uniqueItems?: boolean };
  if (minItems === undefined && maxItems === undefined && !items && !uniqueItems) return undefined;
  let each: ValueCheck | undefined;
  return (value, path, found) => {
    if (!Array.isArray(value)) return;
    if (items) {
      each ??= compileValues(items, options);
      for (let i = 0; i < value.length; i++) each(value[i], `${path}[${i}]`, found);
    }
    if (minItems !== undefined && value.length < minItems)
      found.errors.push(
        invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`),
      );
    if (maxItems !== undefined && value.length > maxItems)
      found.errors.push(tooMany(path, value.length, maxItems));
    if (uniqueItems && new Set(value.map((item) => goSyntax(item))).size < value.length)
      found.errors.push(invalidValue(path, "", `${path} in body shouldn't contain duplicates`));
  };
}

function checkEnum(props: SchemaProps): ValueCheck | undefined {
  const allowed = props["enum"] as unknown[] | undefined;
  if (!allowed || allowed.length === 0) return undefined;
  // Integers beyond the safe range are compared as doubles, as in kube-apiserver.
  const double = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);
  const scalars = new Set(allowed.filter((item) => typeof item !== "object" || item === null).map(double));
  const others = allowed.filter((item) => typeof item === "object" && item !== null);
  const shown = allowed.map((item) => (typeof item === "string" ? item : stringifyJson(item)));
  return (value, path, found) => {
    if (scalars.has(double(value)) && value !== null) return;
    if (others.some((item) => isDeepStrictEqual(item, value))) return;
    found.errors.push(notSupported(path, untypedValue(value), shown));
  };
}

function checkObject(props: SchemaProps, options: CompileOptions): ValueCheck | undefined {
  const [minProperties, maxProperties] = [limit(props, "minProperties"), limit(props, "maxProperties")];
  const named = (props["properties"] as Record<string, SchemaProps> | undefined) ?? {};
  const wanted = (props["required"] as string[] | undefined) ?? [];
  const additional = props["additionalProperties"] as SchemaProps | boolean | undefined;
  const names = Object.keys(named);
  const bounded = minProperties !== undefined || maxProperties !== undefined;
  if (
    names.length === 0 &&
    wanted.length === 0 &&
    !bounded &&
    (additional === undefined || additional === true)
  )
    return undefined;
  const checks = new Map<string, ValueCheck>();
  const checkOf = (name: string): ValueCheck => {
    let check = checks.get(name);
    if (!check) checks.set(name, (check = compileValues(named[name]!, options)));
    return check;
  };
  let others: ValueCheck | undefined;
  return (value, path, found) => {
    if (!isObject(value)) return;
    if (bounded) {
      const count = Object.keys(value).length;
      if (minProperties !== undefined && count < minProperties) {
        found.errors.push(
          invalidValue(path, count, `${path} in body should have at least ${minProperties} properties`),
        );
        return;
      }
      if (maxProperties !== undefined && count > maxProperties) {
        found.errors.push(tooMany(path, count, maxProperties));
        return;
      }
    }
    for (const key in value) {
      if (Object.hasOwn(named, key)) checkOf(key)(value[key], below(path, key), found);
      else if (additional === false)
        found.errors.push(invalidValue(path, key, `${path}.${key} in body is a forbidden property`));
      else if (typeof additional === "object") {
        others ??= compileValues(additional, options);
        others(value[key], `${path}.${key}`, found);
      }
    }
    for (const key of wanted) if (!Object.hasOwn(value, key)) found.errors.push(required(below(path, key)));
  };
}
