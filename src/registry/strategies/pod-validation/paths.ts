// Validation of paths in volumes and on nodes.
import { type FieldError, invalidValue } from "#base";

export const noBacksteps = (path: string, field: string): FieldError[] =>
  path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];

/** Validates that a path is relative and has no `..` element. */
export const descendingPath = (path: string, field: string): FieldError[] => [
  ...(path.startsWith("/") ? [invalidValue(field, path, "must be a relative path")] : []),
  ...noBacksteps(path, field),
];

/** Same as descendingPath, and not a name starting with two dots, which atomic updates of a volume use. */
export const ownPath = (path: string, field: string): FieldError[] => [
  ...descendingPath(path, field),
  ...(path.startsWith("..") && !path.startsWith("../")
    ? [invalidValue(field, path, "must not start with '..'")]
    : []),
];

/** Validates the permission bits of a file. */
export const modeErrors = (mode: number | undefined, field: string): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > 0o777)
    ? [invalidValue(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")]
    : [];
