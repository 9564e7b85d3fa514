// The table columns of a custom kind: the name, and the printer columns of the definition.
import type { CustomResourceColumnDefinition } from "#api";
import { TimeError, canonicalTime } from "#base";
import { type ApiObject, type Column, ago, nameColumn } from "#registry";
import { stringifyJson } from "#schema";
import { type CountVisits, jsonPath } from "./json-path.ts";

const ageDefinition: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the creation of the object.",
};

/**
 * Bounds the work for one row: values visited in all of its cells, and the length of their texts. Both the
 * author of a definition and that of an object can make it arbitrarily long.
 */
const maxVisitsPerRow = 25_000;
const charactersPerVisit = 32;

/** The row needs too much work; its remaining cells are empty. */
class RowLimit extends Error {
  override readonly name = "RowLimit";
}

function rowLimit(): CountVisits {
  let left = maxVisitsPerRow;
  return (values) => {
    left -= values;
    if (left < 0) throw new RowLimit("the row needs too much work");
  };
}

export function customColumns(
  given: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<ApiObject>[] {
  const columns: Column<ApiObject>[] = [nameColumn];
  const limits = new WeakMap<ApiObject, CountVisits>();
  const limitOf = (object: ApiObject): CountVisits => limits.getOrInsertComputed(object, rowLimit);
  for (const each of given?.length ? given : [ageDefinition]) {
    const find = jsonPath(each.jsonPath);
    // As in the reference, an invalid path drops this and all further columns.
    if (!find) break;
    columns.push(column(each, find, limitOf));
  }
  return columns;
}

function column(
  given: CustomResourceColumnDefinition,
  find: NonNullable<ReturnType<typeof jsonPath>>,
  limitOf: (object: ApiObject) => CountVisits,
): Column<ApiObject> {
  return {
    name: given.name,
    type: given.type as Column<ApiObject>["type"],
    ...(given.format && { format: given.format }),
    doc: given.description ?? `Custom resource definition column (in JSONPath format): ${given.jsonPath}`,
    ...(given.priority && { priority: given.priority }),
    cell: (object, now) => {
      const visit = limitOf(object);
      try {
        const [value] = find(object, visit);
        return value === undefined ? null : cellOf(given.type, value, now, visit);
      } catch (error) {
        if (error instanceof RowLimit) return null;
        throw error;
      }
    },
  };
}

function cellOf(
  type: string,
  value: unknown,
  now: Date,
  visit: CountVisits,
): ReturnType<Column<ApiObject>["cell"]> {
  switch (type) {
    case "string":
      return textOf(value, visit);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, now) : null;
    default:
      return null;
  }
}

/**
 * Formats a value as Go prints it: objects and lists as JSON with sorted keys, large fractions with an
 * exponent.
 */
function textOf(value: unknown, visit: CountVisits): string {
  if (value === null) return "<no value>";
  if (typeof value === "string") visit(value.length / charactersPerVisit);
  if (typeof value === "object")
    return stringifyJson(sorted(value, visit)).replaceAll(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return typeof value === "number" && !Number.isInteger(value) ? fractionText(value) : String(value);
}

function sorted(value: unknown, visit: CountVisits): unknown {
  visit(typeof value === "string" ? 1 + value.length / charactersPerVisit : 1);
  if (Array.isArray(value)) return value.map((item) => sorted(item, visit));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item, visit)]));
}

function fractionText(value: number): string {
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const size = String(Math.abs(power)).padStart(2, "0");
  return `${digits}e${power < 0 ? "-" : "+"}${size}`;
}

const zeroTime = "0001-01-01T00:00:00Z";

function dateCell(text: string, now: Date): string {
  if (text === "" || text === "null") return "<unknown>";
  try {
    const time = canonicalTime(text);
    return time === zeroTime ? "<unknown>" : ago(time, now);
  } catch (error) {
    if (error instanceof TimeError) return "<invalid>";
    throw error;
  }
}
