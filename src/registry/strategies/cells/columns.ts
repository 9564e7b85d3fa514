// Table columns that nearly every kind has.
import type { ApiObject, Column } from "../../strategy.ts";
import { age } from "./age.ts";

export const nameColumn: Column<ApiObject> = {
  name: "Name",
  type: "string",
  format: "name",
  doc: "Name of the object, unique within its kind and namespace.",
  cell: ({ metadata }) => metadata.name ?? "",
};

export const ageColumn: Column<ApiObject> = {
  name: "Age",
  type: "string",
  doc: "Time since the creation of the object.",
  cell: ({ metadata }, now) => ago(metadata.creationTimestamp, now),
};

/** Returns the age, or `<unknown>` without a time. */
export const ago = (time: string | null | undefined, now: Date): string =>
  time ? age(time, now) : "<unknown>";
