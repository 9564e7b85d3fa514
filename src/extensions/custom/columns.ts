// How objects of a defined kind look in a table: their names, and the columns the definition adds.
import type { CustomResourceColumnDefinition } from "#api";
import { TimeError, canonicalTime } from "#base";
import { type ApiObject, type Column, ago, nameColumn } from "#registry";
import { stringifyJson } from "#schema";
import { jsonPath } from "./json-path.ts";

const ageDefinition: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the server stored the object first.",
};

export function customColumns(
  given: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<ApiObject>[] {
  return [nameColumn, ...(given?.length ? given : [ageDefinition]).map(column)];
}

function column(given: CustomResourceColumnDefinition): Column<ApiObject> {
  const find = jsonPath(given.jsonPath);
  return {
    name: given.name,
    type: given.type as Column<ApiObject>["type"],
    ...(given.format && { format: given.format }),
    doc: given.description ?? `Custom resource definition column (in JSONPath format): ${given.jsonPath}`,
    ...(given.priority && { priority: given.priority }),
    cell: (object, now) => {
      const [value] = find?.(object) ?? [];
      return value === undefined ? null : cellOf(given.type, value, now);
    },
  };
}

function cellOf(type: string, value: unknown, now: Date): string | number | boolean | null {
  switch (type) {
    case "string":
      return typeof value === "object" && value !== null ? stringifyJson(value) : String(value ?? "<nil>");
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

function dateCell(text: string, now: Date): string {
  try {
    return ago(canonicalTime(text), now);
  } catch (error) {
    if (error instanceof TimeError) return "<invalid>";
    throw error;
  }
}
