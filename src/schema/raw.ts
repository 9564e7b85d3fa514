// Raw extension objects, whose bytes are preserved. In memory such an object is plain data. If printing that
// data would not reproduce its source text (1.0 versus 1, say), the text is remembered alongside it until the
// data is modified.

import { compactText, parseTree, plainValue } from "./json/parse.ts";
import { stringifyJson } from "./json/stringify.ts";

const remembered = new WeakMap<object, { readonly printed: string; readonly text: string }>();

/** Remembers the compact text that an object was parsed from, if printing would not reproduce it. */
export function rememberText(value: unknown, text: string): void {
  if (typeof value !== "object" || value === null) return;
  const printed = stringifyJson(value);
  if (printed !== text) remembered.set(value, { printed, text });
}

/** Returns the text of a raw value: its source text, unless the value was modified since. */
export function rawText(value: unknown): string {
  const printed = stringifyJson(value);
  const kept = typeof value === "object" && value !== null ? remembered.get(value) : undefined;
  return kept?.printed === printed ? kept.text : printed;
}

export const isRemembered = (value: unknown): boolean =>
  typeof value === "object" && value !== null && remembered.has(value);

/** Parses the text of a raw value; returns undefined if it is not valid JSON. */
export function rawFromText(text: string): unknown {
  try {
    const quick: unknown = JSON.parse(text);
    if (JSON.stringify(quick) === text) return quick;
    const value = plainValue(parseTree(text));
    rememberText(value, compactText(text));
    return value;
  } catch {
    return undefined;
  }
}
