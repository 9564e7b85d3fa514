// Keys of settings and secrets: they may become file names.
import type { FieldError } from "#base";
import { configKeyProblems } from "#schema";
import { formatErrors } from "./format.ts";

/** One finding for each thing wrong with the key. */
export const dataKeyErrors = (key: string, path: string): FieldError[] =>
  formatErrors(key, `${path}[${key}]`, configKeyProblems);

/** How many bytes a base64 text stands for; null stands for none. */
export const base64Bytes = (text: string | null): number =>
  text ? Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0) : 0;

/** Settings and secrets are read whole, so they stay small. */
export const mostDataBytes = 1024 * 1024;
