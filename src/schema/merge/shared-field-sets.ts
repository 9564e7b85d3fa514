// Parses stored objects whose field sets are shared. Objects made from one template have equal field sets, which are
// often larger than all other fields: each is parsed once, and what is derived from it is remembered.
//
//   … "managedFields":[{"manager":"a", … ,"fieldsV1":{"f:spec":{…}}}] …     the text of {"f:spec":{…}} is looked up
//
// Shared sets are frozen. A text is shared once it was seen a second time, since many texts occur only in one object.
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { isShared, markShared } from "../shared-values.ts";
import { type FieldSet, leaf, parseFieldSet } from "./field-set.ts";
import { type Json, isList, isObject } from "./json-value.ts";
import type { MergeType } from "./merge-type.ts";
import { fitToType } from "./typed-remove.ts";

interface SharedSet {
  readonly text: string;
  readonly set: FieldSet;
}

/** Shorter texts are parsed each time: looking them up would cost as much. */
const minLength = 256;
const maxLength = 16 * 1024;
const prefixLength = 128;
/** Occurrences of the member that are looked at in one object; each may cost a walk over a text of `maxLength`. */
const maxMembers = 64;
/** Bound on the texts of one parser; the parsed sets take about ten times as much. */
const maxCharacters = 256 * 1024;
const maxSeen = 128;

const marker = '"fieldsV1":{';
/** Stands for a set while the rest is parsed. Clients cannot guess it. */
const placeholder = randomUUID();

/** Shared sets fitted to types. */
const fitted = new WeakMap<FieldSet, WeakMap<MergeType, FieldSet>>();

/** Fits a set to a merge type, once if it is shared. */
export function fittedToType(type: MergeType, set: FieldSet): FieldSet {
  if (!isShared(set)) return fitToType(type, set);
  const known = fitted.getOrInsertComputed(set, () => new WeakMap());
  let result = known.get(type);
  if (!result) known.set(type, (result = fitToType(type, set)));
  return result;
}

export class StoredParser {
  /** Shared sets by the beginning of their text, in order of their first use. */
  readonly #shared = new Map<string, SharedSet[]>();
  #characters = 0;
  /** Checksums of the latest texts seen once: the texts are slices, each of which keeps that of a whole object. */
  readonly #seen = new Set<number>();

  /** Parses a stored object: as JSON.parse does, but with shared field sets in the managed fields. */
  parse(text: string): unknown {
    const sets: FieldSet[] = [];
    let rest = "";
    let [at, members] = [0, 0];
    for (let found = text.indexOf(marker); found >= 0; found = text.indexOf(marker, found + 1)) {
      if (members++ === maxMembers) return JSON.parse(text);
      const start = found + marker.length - 1;
      const shared = this.#setAt(text, start);
      if (!shared) continue;
      rest += `${text.slice(at, start)}"${placeholder}${sets.length}"`;
      sets.push(shared.set);
      at = start + shared.text.length;
    }
    if (sets.length === 0) return JSON.parse(text);
    const object = JSON.parse(rest + text.slice(at)) as Json;
    // Elsewhere in the object, the member is not a field set.
    return putBack(object, sets) === sets.length ? object : JSON.parse(text);
  }

  /** Returns the shared set whose text begins at this position; a text that is seen again becomes shared. */
  #setAt(text: string, start: number): SharedSet | undefined {
    const prefix = text.slice(start, start + prefixLength);
    // An object begins with the text of another one only if it is the same.
    const known = this.#shared.get(prefix)?.find((each) => text.startsWith(each.text, start));
    if (known) return known;
    const end = endOfObject(text, start);
    if (end - start < minLength || end - start > maxLength) return undefined;
    const own = text.slice(start, end);
    const checksum = crc32(own);
    if (this.#seen.delete(checksum)) return this.#share(own);
    if (this.#seen.size >= maxSeen) this.#seen.delete(this.#seen.values().next().value!);
    this.#seen.add(checksum);
    return undefined;
  }

  #share(slice: string): SharedSet | undefined {
    // A copy, since a slice would keep the text of the whole object in memory.
    const text = Buffer.from(slice).toString();
    const parsed = JSON.parse(text) as FieldSet;
    if (!isCanonical(parsed)) return undefined;
    const made = { text, set: markShared(frozen(parsed)) };
    this.#shared.getOrInsertComputed(text.slice(0, prefixLength), () => []).push(made);
    this.#characters += text.length;
    while (this.#characters > maxCharacters) this.#evict();
    return made;
  }

  #evict(): void {
    const [prefix, sets] = this.#shared.entries().next().value!;
    this.#shared.delete(prefix);
    for (const { text } of sets) this.#characters -= text.length;
  }
}

function isCanonical(set: FieldSet): boolean {
  try {
    return parseFieldSet(set) === set;
  } catch {
    return false;
  }
}

/** Returns the set frozen. Members without children, which are most of it, are one object. */
function frozen(set: FieldSet): FieldSet {
  const copy: Record<string, FieldSet> = {};
  let size = 0;
  for (const element in set) {
    copy[element] = frozen(set[element]!);
    size++;
  }
  return size === 0 ? leaf : Object.freeze(copy);
}

/** Puts the sets in the places that stand for them. Returns the number of places found. */
function putBack(object: Json, sets: readonly FieldSet[]): number {
  const metadata = isObject(object) ? object["metadata"] : undefined;
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  let found = 0;
  for (const entry of isList(entries) ? entries : []) {
    if (!isObject(entry) || entry["fieldsV1"] !== placeholder + found || found === sets.length) continue;
    (entry as Record<string, unknown>)["fieldsV1"] = sets[found++];
  }
  return found;
}

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d];

/** Returns the position after an object that contains objects and texts only; that of the limit if it is longer. */
function endOfObject(text: string, start: number): number {
  const limit = Math.min(text.length, start + maxLength + 1);
  let depth = 0;
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === open) depth++;
    else if (code === close && --depth === 0) return at + 1;
    else if (code === quote)
      for (at++; text.charCodeAt(at) !== quote && at < limit;)
        at += text.charCodeAt(at) === backslash ? 2 : 1;
  }
  return limit;
}
