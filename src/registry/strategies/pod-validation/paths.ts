// Paths inside volumes and on nodes: they must stay where they belong.
import { type FieldError, invalidValue } from "#base";

export const noBacksteps = (path: string, field: string): FieldError[] =>
  path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];

/** Relative, and never upwards. */
export const descendingPath = (path: string, field: string): FieldError[] => [
  ...(path.startsWith("/") ? [invalidValue(field, path, "must be a relative path")] : []),
  ...noBacksteps(path, field),
];

/** The same, and not one of the names with two dots in front that updates in place use. */
export const ownPath = (path: string, field: string): FieldError[] => [
  ...descendingPath(path, field),
  ...(path.startsWith("..") && !path.startsWith("../")
    ? [invalidValue(field, path, "must not start with '..'")]
    : []),
];

/** Permission bits of a file. */
export const modeErrors = (mode: number | undefined, field: string): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > 0o777)
    ? [invalidValue(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")]
    : [];
