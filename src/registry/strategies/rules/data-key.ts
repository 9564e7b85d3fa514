// Keys of settings and secrets: they may become file names.
import { type FieldError, invalidValue } from "#base";

const longest = 253;

/** One finding for each thing wrong with the key. */
export function dataKeyErrors(key: string, path: string): FieldError[] {
  const field = `${path}[${key}]`;
  const found: string[] = [];
  if (key.length > longest) found.push(`must be no more than ${longest} characters`);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) found.push("must consist of alphanumeric characters, '-', '_' or '.'");
  if (key === "." || key === "..") found.push(`must not be '${key}'`);
  else if (key.startsWith("..")) found.push("must not start with '..'");
  return found.map((detail) => invalidValue(field, key, detail));
}

/** How many bytes a base64 text stands for. */
export const base64Bytes = (text: string): number => Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);

/** Settings and secrets are read whole, so they stay small. */
export const mostDataBytes = 1024 * 1024;
