// Diff between two states of an object, one line per changed field.
import { printable } from "./event-line.ts";

/** Fields that change with every write or are too long to show. */
const ignoredFields = new Set(["metadata.managedFields", "metadata.resourceVersion"]);
const maxLines = 40;
const maxValueLength = 120;

/**
 * Returns lines such as `~ spec.replicas: 1 → 3`, `+ metadata.labels.a: "x"`, `- spec.paused: true`. The
 * values of fields below `hidden` are not shown.
 */
export function objectDiff(before: unknown, after: unknown, hidden: readonly string[] = []): string[] {
  const lines: string[] = [];
  const text = (value: unknown, path: string): string => {
    if (hidden.some((field) => path === field || path.startsWith(`${field}.`))) return "…";
    const json = printable(JSON.stringify(value));
    return json.length > maxValueLength ? `${json.slice(0, maxValueLength)}…` : json;
  };
  const compare = (old: unknown, now: unknown, path: string): void => {
    if (ignoredFields.has(path) || lines.length > maxLines) return;
    if (isObject(old) && isObject(now)) {
      const childPath = (key: string): string => (path === "" ? key : `${path}.${key}`);
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
        compare(old[key], now[key], childPath(key));
      return;
    }
    if (Array.isArray(old) && Array.isArray(now) && old.length === now.length) {
      old.forEach((item, at) => compare(item, now[at], `${path}[${at}]`));
      return;
    }
    if (JSON.stringify(old) === JSON.stringify(now)) return;
    const name = printable(path);
    if (old === undefined) lines.push(`+ ${name}: ${text(now, path)}`);
    else if (now === undefined) lines.push(`- ${name}: ${text(old, path)}`);
    else lines.push(`~ ${name}: ${text(old, path)} → ${text(now, path)}`);
  };
  compare(before, after, "");
  return lines.length > maxLines ? [...lines.slice(0, maxLines), "… and more"] : lines;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
