// Keys of config maps and secrets, which may become file names.
import type { FieldError } from "#base";
import { configKeyProblems } from "#schema";
import { formatErrors } from "./format.ts";

/** Returns one error for each problem of the key. */
export const dataKeyErrors = (key: string, path: string): FieldError[] =>
  formatErrors(key, `${path}[${key}]`, configKeyProblems);

/** Returns the decoded length of base64 text; 0 for null. */
export const base64Bytes = (text: string | null): number =>
  text ? Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0) : 0;

/** Maximum size of the data of a config map or secret, which are always read as a whole. */
export const maxDataBytes = 1024 * 1024;
