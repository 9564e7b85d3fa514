// Ratcheting: what an update leaves as it was need not fulfil a schema that became stricter meanwhile. Release
// 1.28 came to have it, behind its gate.
import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "#base";
import { type Structural, isObject } from "./structural.ts";

/** Whether a value is the one that was there; each is compared once. */
export function comparison(): (value: unknown, old: unknown) => boolean {
  const known = new WeakMap<object, boolean>();
  return (value, old) => {
    if (old === undefined) return false;
    if (!isObject(value) && !Array.isArray(value)) return value === old;
    let same = known.get(value);
    if (same === undefined) known.set(value, (same = isDeepStrictEqual(value, old)));
    return same;
  };
}

/** The item that stood for an item before: by its keys, where the list has some. */
export function oldItems(schema: Structural | undefined, old: unknown): (item: unknown) => unknown {
  if (schema?.listType !== "map" || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string =>
    JSON.stringify(schema.listKeys.map((key) => (isObject(item) ? (item[key] ?? null) : null)));
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]));
  return (item) => byKey.get(keyOf(item));
}

/** The errors that are not about something that stayed the same, itself or as a part of something larger. */
export function changedErrors(
  errors: readonly FieldError[],
  object: unknown,
  old: unknown,
  schema: Structural | undefined,
): FieldError[] {
  const same = comparison();
  const lists = new WeakMap<object, (item: unknown) => unknown>();
  const isKept = (field: string): boolean => {
    let place: Place | undefined = { value: object, old, schema, rest: field };
    while (place && place.rest !== "") {
      if (same(place.value, place.old)) return true;
      place = below(place);
    }
    return place !== undefined && same(place.value, place.old);
  };
  const below = ({ value, old: before, schema: at, rest }: Place): Place | undefined => {
    if (Array.isArray(value)) {
      const index = /^\[(\d+)\]/.exec(rest);
      if (!index) return undefined;
      const item: unknown = value[Number(index[1])];
      const find = lists.get(value) ?? oldItems(at, before);
      lists.set(value, find);
      return { value: item, old: find(item), schema: at?.items, rest: rest.slice(index[0].length) };
    }
    if (!isObject(value)) return undefined;
    const key = keyAt(value, rest);
    if (key === undefined) return undefined;
    return {
      value: value[key.name],
      old: isObject(before) ? before[key.name] : undefined,
      schema: at?.properties.get(key.name) ?? at?.additional?.of,
      rest: rest.slice(key.length),
    };
  };
  return errors.filter(({ field }) => !isKept(field));
}

interface Place {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: Structural | undefined;
  /** What of the path is left. */
  readonly rest: string;
}

/** The key that a path goes on with, written `.key` or `[key]`; the longest, as keys may have dots. */
function keyAt(
  value: Readonly<Record<string, unknown>>,
  rest: string,
): { readonly name: string; readonly length: number } | undefined {
  const bracket = rest.startsWith("[");
  const start = bracket || rest.startsWith(".") ? 1 : 0;
  let found: string | undefined;
  for (const name in value) {
    if (name.length <= (found?.length ?? -1) || !rest.startsWith(name, start)) continue;
    const next = rest[start + name.length];
    if (bracket ? next === "]" : next === undefined || next === "." || next === "[") found = name;
  }
  if (found === undefined) return undefined;
  return { name: found, length: start + found.length + (bracket ? 1 : 0) };
}
