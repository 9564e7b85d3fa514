// One element of a field path, in FieldsV1 syntax. The text is canonical: equal elements have equal text.
//
//   f:replicas               a field of a struct or an entry of a map
//   k:{"name":"web"}         the list item with these keys, sorted by name
//   v:"example.com/hold"     the item of a set
//   i:3                      the item of a list by position

import type { Json } from "./json-value.ts";
import { isList, isObject } from "./json-value.ts";

export type PathElement = string;
/** Path elements starting at the root of the object. */
export type FieldPath = readonly PathElement[];

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: Json): PathElement => `v:${canonicalJson(value)}`;
export const indexElement = (index: number): PathElement => `i:${index}`;

/** Returns the element of a keyed list item. `names` must be sorted. */
export function keyElement(names: readonly string[], values: readonly Json[]): PathElement {
  let text = "k:{";
  for (let i = 0; i < names.length; i++)
    text += `${i === 0 ? "" : ","}${quotedName(names[i]!)}:${canonicalJson(values[i]!)}`;
  return `${text}}`;
}

/**
 * Parses an element and returns its canonical text, or undefined if its type is unknown. Throws if the text
 * is not a path element.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text.charCodeAt(1) !== 0x3a) throw new SyntaxError(`not a path element: ${text}`);
  switch (text.charCodeAt(0)) {
    case 0x66: // f
      return text;
    case 0x76: // v
    case 0x6b: // k
      return read(text).canonical;
    case 0x69: // i
      if (!/^i:[+-]?\d{1,15}$/.test(text)) throw new SyntaxError(`not a list position: ${text}`);
      return indexElement(Number(text.slice(2)));
    default:
      return undefined;
  }
}

interface Read {
  readonly canonical: PathElement;
  /** The key names of a `k:` element, sorted. */
  readonly names: readonly string[];
  /** The key values of a `k:` element, or the single value of a `v:` element. */
  readonly values: readonly Json[];
}

// The same few keys occur in nearly every object, so parsed elements are cached, up to a limit.
const cached = new Map<string, Read>();
const maxCached = 4096;
/** Longer elements are not cached: they rarely repeat and may be as long as a whole object. */
const maxCachedLength = 512;

function read(text: string): Read {
  const known = cached.get(text);
  if (known !== undefined) return known;
  const result = readPlain(text) ?? (text.startsWith("v:") ? readValue(parseJson(text)) : readKeys(text));
  if (text.length > maxCachedLength) return result;
  if (cached.size >= maxCached) cached.clear();
  cached.set(text, result);
  return result;
}

// Most elements are a word, or one key whose value is a word: regular expressions read them without parsing
// JSON.
const plainValue = /^v:"([\w ./:@+=,*-]*)"$/;
const plainKey = /^k:\{"([\w.-]+)":"([\w ./:@+=,*-]*)"\}$/;

function readPlain(text: string): Read | undefined {
  const value = plainValue.exec(text)?.[1];
  if (value !== undefined) return { canonical: text, names: [], values: [value] };
  const key = plainKey.exec(text);
  return key ? { canonical: text, names: [key[1]!], values: [key[2]!] } : undefined;
}

const readValue = (value: Json): Read => ({ canonical: valueElement(value), names: [], values: [value] });

function readKeys(text: string): Read {
  const keys = parseJson(text);
  if (!isObject(keys)) throw new SyntaxError(`not a list key: ${text}`);
  const names = Object.keys(keys).sort(compareText);
  const values = names.map((name) => keys[name]!);
  return { canonical: keyElement(names, values), names, values };
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text.slice(2), wideInteger) as Json;
  } catch {
    throw new SyntaxError(`not a path element: ${text}`);
  }
}

function wideInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" &&
    !Number.isSafeInteger(value) &&
    context?.source !== undefined &&
    /^-?\d+$/.test(context.source)
    ? BigInt(context.source)
    : value;
}

/** Compares elements: fields, then keys, then values, then positions; numbers compare numerically. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return rank(kind) - rank(b.charCodeAt(0));
  switch (kind) {
    case 0x66:
      return compareText(a, b);
    case 0x69:
      return Number(a.slice(2)) - Number(b.slice(2));
    case 0x76:
      return compareValues(read(a).values[0]!, read(b).values[0]!);
    default:
      return compareKeys(read(a), read(b));
  }
}

/**
 * Sorts elements. Each is parsed once rather than for every comparison, as the cache holds only few of many.
 */
export function sortedElements(elements: Iterable<PathElement>): PathElement[] {
  const list = [...elements];
  if (list.length < 2) return list;
  const kind = list[0]!.charCodeAt(0);
  if ((kind !== 0x6b && kind !== 0x76) || !list.every((element) => element.charCodeAt(0) === kind))
    return list.sort(compareElements);
  return inKeyOrder(list.map((element) => ({ element, keys: keysOf(element)! })));
}

/**
 * Checks that successive elements are canonical and in order. Each is parsed once, as the cache holds only
 * few of many.
 */
export class CanonicalOrder {
  #last = "";
  #keys: Keys | undefined;

  /**
   * Reports whether the element is canonical and sorts after the previous one. Throws if it is not a path
   * element.
   */
  follows(element: PathElement): boolean {
    const isField = element.charCodeAt(0) === 0x66 && element.charCodeAt(1) === 0x3a;
    if (!isField && parseElement(element) !== element) return false;
    const [last, lastKeys] = [this.#last, this.#keys];
    this.#last = element;
    this.#keys = keysOf(element);
    if (last === "") return true;
    const alike = lastKeys && this.#keys && last.charCodeAt(0) === element.charCodeAt(0);
    return (alike ? compareKeys(lastKeys, this.#keys!) : compareElements(last, element)) < 0;
  }
}

/** Returns the keys of a list item or set element; other elements compare by their text. */
function keysOf(element: PathElement): Keys | undefined {
  const kind = element.charCodeAt(0);
  if (kind === 0x6b) return read(element);
  return kind === 0x76 ? { names: oneValue, values: read(element).values } : undefined;
}

const oneValue: readonly string[] = [""];

/** Sorts elements of list items by their parsed keys. */
export const inKeyOrder = (items: { readonly element: PathElement; readonly keys: Keys }[]): PathElement[] =>
  items.sort((a, b) => compareKeys(a.keys, b.keys)).map(({ element }) => element);

/** The key names, sorted, and the values of one item for them. */
export type Keys = Pick<Read, "names" | "values">;

const rank = (kind: number): number => "fkvi".indexOf(String.fromCharCode(kind));

function compareKeys(a: Keys, b: Keys): number {
  for (let i = 0; i < a.names.length && i < b.names.length; i++) {
    const order =
      (a.names === b.names ? 0 : compareText(a.names[i]!, b.names[i]!)) ||
      compareValues(a.values[i]!, b.values[i]!);
    if (order !== 0) return order;
  }
  return a.names.length - b.names.length;
}

function compareValues(a: Json, b: Json): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  const order = valueRank(a) - valueRank(b);
  if (order !== 0) return order;
  if (typeof a === "string") return compareText(a, b as string);
  if (isList(a)) {
    const right = b as readonly Json[];
    for (let i = 0; i < a.length && i < right.length; i++) {
      const each = compareValues(a[i]!, right[i]!);
      if (each !== 0) return each;
    }
    return a.length - right.length;
  }
  if (isObject(a)) return compareKeys(entriesOf(a), entriesOf(b as Record<string, Json>));
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}

function entriesOf(object: { readonly [key: string]: Json }): Keys {
  const names = Object.keys(object).sort(compareText);
  return { names, values: names.map((name) => object[name]!) };
}

function valueRank(value: Json): number {
  if (typeof value === "number" || typeof value === "bigint") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  return isList(value) ? 3 : value === null ? 5 : 4;
}

/**
 * Compares strings by their UTF-8 bytes. UTF-16 order differs for surrogates versus the last characters of
 * the basic multilingual plane.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) return inByteOrder(x) - inByteOrder(y);
    return x - y;
  }
  return a.length - b.length;
}

const inByteOrder = (unit: number): number => (unit >= 0xe000 ? unit - 0x2000 : unit + 0x800);

/** Returns the element as messages show it: `.spec`, `[name="web"]`, `[="x"]`, `[3]`. */
export function elementText(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charCodeAt(0)) {
    case 0x66:
      return `.${rest}`;
    case 0x6b:
      return `[${read(element)
        .names.map((name, i) => `${name}=${canonicalJson(read(element).values[i]!)}`)
        .join(",")}]`;
    case 0x76:
      return `[=${canonicalJson(read(element).values[0]!)}]`;
    default:
      return `[${rest}]`;
  }
}

export const pathText = (path: FieldPath): string => path.map(elementText).join("");

const quotedName = (name: string): string => (/^[\w.-]*$/.test(name) ? `"${name}"` : JSON.stringify(name));

/** Returns compact JSON with sorted keys, escaping the same characters as other writers of field sets. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  return `{${Object.keys(value)
    .sort(compareText)
    .map((key) => `${quoted(key)}:${canonicalJson(value[key]!)}`)
    .join(",")}}`;
}

function quoted(text: string): string {
  if (/^[\w ./:@+=,*-]*$/.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]|\\[bf]/g, (found) => escapes[found]!);
}

const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
  "\\b": "\\u0008",
  "\\f": "\\u000c",
};
