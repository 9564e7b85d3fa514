// Lists and maps: comma-separated lists, repeatable flags, pairs of key and value.

import { type OptionType, kindOf, listed, text } from "./option-type.ts";
import { Refusal, UnknownField, Unparsable, within } from "./refusal.ts";

/** Splits at commas; within double quotes commas are kept, and two double quotes stand for one. */
export function splitCommas(given: string): string[] {
  if (given === "") return [];
  const items: string[] = [];
  let item = "";
  for (let i = 0, quoted = false; i <= given.length; i++) {
    const c = given[i];
    if (c === undefined || (c === "," && !quoted)) {
      if (quoted) throw misquoted(given.length, true);
      items.push(item);
      item = "";
    } else if (c === '"' && !quoted && item === "") quoted = true;
    else if (c === '"' && quoted) {
      if (given[i + 1] === '"') item += given[++i];
      else if (given[i + 1] === undefined || given[i + 1] === ",") quoted = false;
      else throw misquoted(i, true);
    } else if (c === '"' && !quoted) throw misquoted(i, false);
    else item += c;
  }
  return items;
}

const misquoted = (at: number, isQuoted: boolean): Unparsable =>
  new Unparsable(
    `parse error on line 1, column ${at + 1}: ${isQuoted ? 'extraneous or missing " in quoted-field' : 'bare " in non-quoted-field'}`,
  );

const joinCommas = (items: readonly string[]): string =>
  items.map((item) => (/[",]/.test(item) ? `"${item.replaceAll('"', '""')}"` : item)).join(",");

function readList<T>(item: OptionType<T>): (value: unknown) => readonly T[] {
  return (value) => {
    if (value === null) return [];
    if (!Array.isArray(value)) throw new Refusal(`must be a list, not ${kindOf(value)}`);
    return value.map((member: unknown, i) => within(`[${i}]`, () => item.read(member)));
  };
}

/** A comma-separated list. Repeated flags append; the first one replaces the default. */
export function listOf<T>(item: OptionType<T>, name = "strings"): OptionType<readonly T[]> {
  const parse = (given: string): readonly T[] => splitCommas(given).map((part) => item.parse(part));
  return {
    name,
    parse,
    append: (before, given) => [...before, ...parse(given)],
    read: readList(item),
    write: (values) => values.map((value) => item.write(value)),
    format: (values) => joinCommas(values.map((value) => item.format(value))),
  };
}
export const strings = listOf(text);

/** A comma-separated list that is a single value: repeated flags replace it. */
export function singleListOf<T>(item: OptionType<T>, name: string): OptionType<readonly T[]> {
  const { append: _never, ...type } = listOf(item, name);
  return type;
}

/** One value per flag, including any commas. */
export const repeated = <T>(item: OptionType<T>, name = "stringArray"): OptionType<readonly T[]> => ({
  ...listOf(item, name),
  parse: (given) => [item.parse(given)],
  append: (before, given) => [...before, item.parse(given)],
});

export interface MapOptions {
  readonly separator?: string;
  /** Allowed keys. */
  readonly keys?: readonly string[];
  readonly name?: string;
  /** The value of a key given without one; if undefined, such a key is an error. */
  readonly bareValue?: string;
  /** The entries of a later source are merged into the earlier ones. */
  readonly merges?: boolean;
  /** Each flag contains one pair, whose value may contain commas. */
  readonly single?: boolean;
}

/** `key=value,key=value`. Repeated flags append. */
export function mapOf<T>(
  item: OptionType<T>,
  {
    separator = "=",
    keys,
    name = "mapStringString",
    bareValue,
    merges = false,
    single = false,
  }: MapOptions = {},
): OptionType<Readonly<Record<string, T>>> {
  const check = (key: string): string => {
    if (key === "") throw new Refusal(`must be <key>${separator}<value> pairs; a key is empty`);
    if (keys && !keys.includes(key))
      throw new Refusal(`${JSON.stringify(key)} is not allowed here, only ${listed(keys)}`);
    return key;
  };
  const parse = (given: string): Readonly<Record<string, T>> => {
    const pairs: [string, T][] = [];
    for (const part of single ? [given] : splitCommas(given)) {
      if (part.trim() === "" && !single) continue;
      const cut = part.indexOf(separator);
      if (cut < 0 && bareValue === undefined)
        throw new Unparsable(`malformed pair, expect string${separator}string`);
      const key = check((cut < 0 ? part : part.slice(0, cut)).trim());
      pairs.push([
        key,
        within(`[${key}]`, () =>
          item.parse(cut < 0 ? bareValue! : part.slice(cut + separator.length).trim()),
        ),
      ]);
    }
    return Object.fromEntries(pairs);
  };
  return {
    name,
    parse,
    append: (before, given) => ({ ...before, ...parse(given) }),
    read: (value) => {
      if (value === null) return {};
      if (typeof value !== "object" || Array.isArray(value))
        throw new Refusal(`must be a mapping, not ${kindOf(value)}`);
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [
          check(key),
          within(`[${key}]`, () => item.read(member)),
        ]),
      );
    },
    write: (values) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, item.write(value)])),
    format: (values) =>
      Object.entries(values)
        .map(([key, value]) => `${key}${separator}${item.format(value)}`)
        .join(","),
    ...(merges && {
      merge: (below: Readonly<Record<string, T>>, above: Readonly<Record<string, T>>) => ({
        ...below,
        ...above,
      }),
    }),
  };
}
export const pairs = mapOf(text);

/** `name:value,name:value`; repeated names keep all values in order. */
export const headers: OptionType<Readonly<Record<string, readonly string[]>>> = (() => {
  const add = (
    before: Readonly<Record<string, readonly string[]>>,
    given: string,
  ): Readonly<Record<string, readonly string[]>> => {
    const all = new Map(Object.entries(before));
    for (const part of given.split(",")) {
      if (part.trim() === "") continue;
      const cut = part.indexOf(":");
      if (cut < 1) throw new Refusal(`must be <name>:<value> headers; ${JSON.stringify(part)} is not one`);
      const name = part.slice(0, cut).trim();
      all.set(name, [...(all.get(name) ?? []), part.slice(cut + 1).trim()]);
    }
    return Object.fromEntries(all);
  };
  const inFile = mapOf(strings);
  return {
    name: "headers",
    parse: (given) => add({}, given),
    append: add,
    read: inFile.read,
    write: inFile.write,
    format: (values) =>
      Object.entries(values)
        .flatMap(([name, list]) => list.map((value) => `${name}:${value}`))
        .join(","),
  };
})();

/** A mapping with known fields. It cannot be set on the command line, except through types that wrap it. */
export function struct<T extends object>(fields: {
  readonly [K in keyof T]-?: { readonly type: OptionType<NonNullable<T[K]>>; readonly required?: boolean };
}): OptionType<T> {
  const names = Object.keys(fields) as (keyof T & string)[];
  const typeOf = (name: keyof T & string): OptionType<unknown> => fields[name].type;
  return {
    name: "object",
    parse: () => {
      throw new Refusal("can only be set in the configuration file");
    },
    read: (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new Refusal(`must be a mapping, not ${kindOf(value)}`);
      for (const key of Object.keys(value)) {
        if (!names.includes(key as keyof T & string))
          throw new UnknownField(`unknown field; known are ${listed(names)}`, `.${key}`);
      }
      const given = value as Record<string, unknown>;
      const read: Record<string, unknown> = {};
      for (const name of names) {
        if (given[name] !== undefined && given[name] !== null)
          read[name] = within(`.${name}`, () => typeOf(name).read(given[name]));
        else if (fields[name].required) throw new Refusal("is required", `.${name}`);
      }
      return read as T;
    },
    write: (value) =>
      Object.fromEntries(
        names
          .filter((name) => value[name] !== undefined)
          .map((name) => [name, typeOf(name).write(value[name])]),
      ),
    format: (value) => JSON.stringify(value),
  };
}
