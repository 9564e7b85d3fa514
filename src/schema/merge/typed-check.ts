// Checks a value against its merge type: declared fields only, scalars of the right type, and no ambiguous
// list items.

import { goPlain, goSyntax, goType } from "#base";
import { type Json, type JsonObject, isList, isObject, sameJson } from "./json-value.ts";
import { itemElement, itemsByElement } from "./list-items.ts";
import {
  type ListType,
  type MergeType,
  type StructType,
  hasHiddenItems,
  hasItems,
  isAtomic,
  typeUnder,
} from "./merge-type.ts";
import { elementText, fieldElement, indexElement } from "./path-element.ts";
import { TypedError, type TypedFinding } from "./typed-error.ts";

/** Throws a TypedError with all findings. */
export function checkTyped(type: MergeType, value: Json): void {
  const findings: TypedFinding[] = [];
  check(type, value, undefined, findings);
  if (findings.length > 0) throw new TypedError(findings);
}

/** Location of a value; converted to text only when there is a finding, which is rare. */
interface Location {
  readonly above: Location | undefined;
  readonly element: string;
}

const textOf = (location: Location | undefined): string =>
  location ? textOf(location.above) + elementText(location.element) : "";

function check(type: MergeType, value: Json, location: Location | undefined, findings: TypedFinding[]): void {
  if (value === null) return;
  switch (type.is) {
    case "scalar":
      if (type.of !== "anything" && !isScalar(type.of, value))
        findings.push({
          path: textOf(location),
          message: `expected ${type.of === "number" ? "numeric (int or float)" : type.of}, got ${shownFor(type.of, value)}`,
        });
      return;
    case "struct":
    case "map":
      if (!isObject(value))
        findings.push({ path: textOf(location), message: `expected map, got ${formatted(value)}` });
      else for (const key in value) checkKey(type, key, value, location, findings);
      return;
    case "list":
      if (!isList(value))
        findings.push({ path: textOf(location), message: `expected list, got ${formatted(value)}` });
      else checkList(type, value, location, findings);
      return;
    case "any":
  }
}

function checkKey(
  type: StructType | Extract<MergeType, { is: "map" }>,
  key: string,
  value: JsonObject,
  location: Location | undefined,
  findings: TypedFinding[],
): void {
  if (value[key] === undefined) return;
  const below = { above: location, element: fieldElement(key) };
  const of = type.is === "map" ? type.of : (type.byName.get(key)?.type ?? type.others);
  if (of === undefined) findings.push({ path: textOf(below), message: "field not declared in schema" });
  else check(of, value[key], below, findings);
}

function checkList(
  type: ListType,
  items: readonly Json[],
  location: Location | undefined,
  findings: TypedFinding[],
): void {
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    let element = indexElement(i);
    try {
      element = itemElement(type, items[i]!, i);
    } catch (error) {
      if (!(error instanceof TypedError)) throw error;
      findings.push({ path: textOf(location), message: error.findings[0]!.message });
      return;
    }
    if (seen.has(element))
      findings.push({ path: textOf(location), message: `duplicate entries for key ${elementText(element)}` });
    seen.add(element);
    check(type.of, items[i]!, { above: location, element }, findings);
  }
}

const isScalar = (of: "string" | "number" | "boolean", value: Json): boolean =>
  typeof value === of || (of === "number" && typeof value === "bigint");

/** Formats a value as the reference does, with the Go type that holds it. */
const formatted = (value: Json): string => `&{${goPlain(value)}}`;

function shownFor(of: "string" | "number" | "boolean", value: Json): string {
  if (of === "number") return goType(value);
  return of === "string" ? `&value.valueUnstructured{Value:${goSyntax(value)}}` : formatted(value);
}

/**
 * Checks what a comparison of declared values skips: that items inside atomic values are unambiguous. Parts
 * shared with a value checked before are skipped. Throws a TypedError.
 */
export function checkHiddenItems(type: MergeType, value: Json | undefined, checked: Json | undefined): void {
  if (value === checked || value === undefined || !hasHiddenItems(type)) return;
  if (isAtomic(type)) {
    if (!sameJson(value, checked)) checkItems(type, value);
  } else if (isObject(value)) {
    const before = isObject(checked) ? checked : undefined;
    for (const key of type.is === "struct" && type.others === undefined ? keysWith(type) : Object.keys(value))
      checkHiddenItems(typeUnder(type, key), value[key], before?.[key]);
  } else if (type.is === "list" && isList(value))
    for (const item of value) checkHiddenItems(type.of, item, undefined);
}

function checkItems(type: MergeType, value: Json | undefined): void {
  if (!hasItems(type)) return;
  if (isObject(value)) for (const key in value) checkItems(typeUnder(type, key), value[key]);
  else if (type.is === "list" && isList(value)) {
    if (type.relation !== "atomic") itemsByElement(type, value);
    for (const item of value) checkItems(type.of, item);
  }
}

const hidden = new WeakMap<StructType, readonly string[]>();

function keysWith(type: StructType): readonly string[] {
  let names = hidden.get(type);
  if (names === undefined)
    hidden.set(
      type,
      (names = type.fields.filter((field) => hasHiddenItems(field.type)).map(({ name }) => name)),
    );
  return names;
}
