// A hash of a container's definition, to detect changes.
import { createHash } from "node:crypto";
import type { Container } from "#api";

export function containerHash(container: Container): string {
  return createHash("sha1")
    .update(JSON.stringify(sorted(container)))
    .digest("hex")
    .slice(0, 16);
}

/** Sorts keys and omits absent values, so that equal definitions serialize identically. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]),
  );
}
