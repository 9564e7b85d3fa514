// Ratcheting: values that an update does not change need not satisfy a schema that has become stricter.
// Introduced in release 1.28 behind its feature gate.
import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "#base";
import { stringifyJson } from "#schema";
import { type Structural, isObject } from "./structural.ts";

/** Returns a function that reports whether a value equals its old value; each value is compared once. */
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

/** Returns a function that finds the old version of a list item by its map keys, if the list has any. */
export function oldItems(schema: Structural | undefined, old: unknown): (item: unknown) => unknown {
  if (schema?.listType !== "map" || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string =>
    stringifyJson(schema.listKeys.map((key) => (isObject(item) ? (item[key] ?? null) : null)));
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]));
  return (item) => byKey.get(keyOf(item));
}

/** Returns the errors that do not concern an unchanged value or a part of one. */
export function changedErrors(
  errors: readonly FieldError[],
  object: unknown,
  old: unknown,
  schema: Structural | undefined,
): FieldError[] {
  const same = comparison();
  const lists = new WeakMap<object, (item: unknown) => unknown>();
  /** The distinct lengths of an object's keys. */
  const lengths = new WeakMap<object, ReadonlySet<number>>();
  const isKept = (field: string): boolean => {
    let location: Location | undefined = { value: object, old, schema, rest: field };
    while (location && location.rest !== "") {
      if (same(location.value, location.old)) return true;
      location = below(location);
    }
    return location !== undefined && same(location.value, location.old);
  };
  const below = ({ value, old: before, schema: at, rest }: Location): Location | undefined => {
    if (Array.isArray(value)) {
      const index = /^\[(\d+)\]/.exec(rest);
      if (!index) return undefined;
      const item: unknown = value[Number(index[1])];
      const find = lists.get(value) ?? oldItems(at, before);
      lists.set(value, find);
      return { value: item, old: find(item), schema: at?.items, rest: rest.slice(index[0].length) };
    }
    if (!isObject(value)) return undefined;
    const known = lengths.get(value) ?? new Set(Object.keys(value).map((name) => name.length));
    lengths.set(value, known);
    const key = keyAt(value, known, rest);
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

interface Location {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: Structural | undefined;
  /** The remaining path. */
  readonly rest: string;
}

/**
 * Returns the key that the path continues with, written `.key` or `[key]`; the longest match, as keys may
 * contain dots. Candidates are tried by length, since an object may have very many keys with an error each.
 */
function keyAt(
  value: Readonly<Record<string, unknown>>,
  lengths: ReadonlySet<number>,
  rest: string,
): { readonly name: string; readonly length: number } | undefined {
  const bracket = rest.startsWith("[");
  const start = bracket || rest.startsWith(".") ? 1 : 0;
  for (let end = rest.length; end > start; end--) {
    if (!lengths.has(end - start)) continue;
    const next = rest[end];
    if (bracket ? next !== "]" : next !== undefined && next !== "." && next !== "[") continue;
    const name = rest.slice(start, end);
    if (Object.hasOwn(value, name)) return { name, length: end + (bracket ? 1 : 0) };
  }
  return undefined;
}
