// The table columns of a custom kind: the name, and the printer columns of the definition.
import type { CustomResourceColumnDefinition } from "#api";
import { TimeError, canonicalTime } from "#base";
import { type ApiObject, type Column, ago, nameColumn } from "#registry";
import { stringifyJson } from "#schema";
import { jsonPath } from "./json-path.ts";

const ageDefinition: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the creation of the object.",
};

export function customColumns(
  given: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<ApiObject>[] {
  const columns: Column<ApiObject>[] = [nameColumn];
  for (const each of given?.length ? given : [ageDefinition]) {
    const find = jsonPath(each.jsonPath);
    // As in the reference, an invalid path drops this and all further columns.
    if (!find) break;
    columns.push(column(each, find));
  }
  return columns;
}

function column(
  given: CustomResourceColumnDefinition,
  find: (object: unknown) => readonly unknown[],
): Column<ApiObject> {
  return {
    name: given.name,
    type: given.type as Column<ApiObject>["type"],
    ...(given.format && { format: given.format }),
    doc: given.description ?? `Custom resource definition column (in JSONPath format): ${given.jsonPath}`,
    ...(given.priority && { priority: given.priority }),
    cell: (object, now) => {
      const [value] = find(object);
      return value === undefined ? null : cellOf(given.type, value, now);
    },
  };
}

function cellOf(type: string, value: unknown, now: Date): string | number | boolean | null {
  switch (type) {
    case "string":
      return textOf(value);
    case "integer":
      return typeof value === "number" || typeof value === "bigint" ? Math.trunc(Number(value)) : null;
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
function textOf(value: unknown): string {
  if (value === null) return "<no value>";
  if (typeof value === "object")
    return stringifyJson(sorted(value)).replaceAll(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return typeof value === "number" && !Number.isInteger(value) ? fractionText(value) : String(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
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
