// Objects whose bytes are kept as they came. In memory such an object is plain data; where printing that data
// would not give back the text it was read from (1.0 against 1, say), the text is remembered beside it, for
// as long as the data is not changed.

import { compactText, parseTree, plainValue } from "./json/parse.ts";
import { stringifyJson } from "./json/stringify.ts";

const remembered = new WeakMap<object, { readonly printed: string; readonly text: string }>();

/** Notes the compact text an object was read from. */
export function rememberText(value: unknown, text: string): void {
  if (typeof value !== "object" || value === null) return;
  const printed = stringifyJson(value);
  if (printed !== text) remembered.set(value, { printed, text });
}

/** The text of a raw value: the one it was read from unless it has changed since. */
export function rawText(value: unknown): string {
  const printed = stringifyJson(value);
  const kept = typeof value === "object" && value !== null ? remembered.get(value) : undefined;
  return kept?.printed === printed ? kept.text : printed;
}

export const isRemembered = (value: unknown): boolean =>
  typeof value === "object" && value !== null && remembered.has(value);

/** The value of a text; undefined when it is no JSON. */
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
