// Formats field changes as the lines of a diff.
import type { FieldChange } from "../api/wire.ts";

export interface DiffLine {
  readonly is: "path" | "added" | "removed" | "note";
  readonly text: string;
}

export function diffLines(fields: readonly FieldChange[], more = 0): readonly DiffLine[] {
  const lines = fields.flatMap(linesOf);
  return more > 0
    ? [...lines, { is: "note", text: `and ${more} more ${more === 1 ? "field" : "fields"}` }]
    : lines;
}

function linesOf({ path, op, from, to, withheld }: FieldChange): DiffLine[] {
  const head: DiffLine = { is: "path", text: path };
  if (withheld) return [head, { is: "note", text: `${op}; the values are not shown` }];
  return [
    head,
    ...(op === "added" ? [] : valueLines("removed", from)),
    ...(op === "removed" ? [] : valueLines("added", to)),
  ];
}

const signs = { added: "+ ", removed: "- " } as const;

/** Formats objects and lists on several lines, and multi-line strings without quotes. */
function valueLines(is: "added" | "removed", json: string | undefined): DiffLine[] {
  if (json === undefined) return [];
  return pretty(json)
    .split("\n")
    .map((line) => ({ is, text: `${signs[is]}${line}` }));
}

function pretty(json: string): string {
  try {
    const value = JSON.parse(json) as unknown;
    return typeof value === "string" && value.includes("\n") ? value : JSON.stringify(value, undefined, 2);
  } catch {
    // A truncated value is not valid JSON.
    return json;
  }
}
