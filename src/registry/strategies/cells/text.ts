// Formatting of table cells.
import type { LabelSelector } from "#api";
import { own } from "#base";

/** Returns the text, or `<none>` if it is empty or absent. */
export const orNone = (text: string | undefined): string =>
  text === undefined || text === "" ? "<none>" : text;

export const joined = (items: readonly string[] | null | undefined): string => (items ?? []).join(",");

/** Formats labels as `a=b,c=d`, sorted by key. */
export const labelsText = (labels: Readonly<Record<string, string>> | null | undefined): string =>
  joined(
    Object.keys(labels ?? {})
      .toSorted()
      .map((key) => `${key}=${labels![key]}`),
  );

const expressions: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/**
 * Formats a structured selector in selector syntax. An absent selector matches nothing, an empty one
 * everything.
 */
export function selectorText(selector: LabelSelector | null | undefined): string {
  if (!selector) return "<none>";
  const parts: [key: string, text: string][] = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]) => [key, `${key}=${value}`],
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const write = own(expressions, operator);
    if (!write) return "<error>";
    parts.push([key, write(key, joined(values?.toSorted()))]);
  }
  return orNone(joined(parts.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, text]) => text)));
}

/** Joins the first few items, followed by a text about the remaining ones. */
export const firstFew = (items: readonly string[], shown: number, more: (left: number) => string): string =>
  items.length > shown ? `${joined(items.slice(0, shown))}${more(items.length - shown)}` : joined(items);
