// JSON Patch (RFC 6902) with the leniencies that clients of this API family rely on: `replace` of a missing key adds it,
// negative indices count from the end, and text before the first slash of a path is ignored.
//
// The result shares with the document whatever no operation touched.

import { type Json, type JsonObject, has, isList, isObject, jsonSize, own, sameJson, withKey, withoutKey } from "./json-value.ts";
import { PatchError, doesNotApply, malformed } from "./patch-error.ts";

export interface JsonPatchLimits {
  /** The most operations one patch may have. */
  readonly operations: number;
  /** The most bytes that all `copy` operations of a patch may add together. */
  readonly copiedBytes: number;
}

export const jsonPatchLimits: JsonPatchLimits = { operations: 10_000, copiedBytes: 3 * 1024 * 1024 };

/** Applies a parsed patch to a document. Throws a PatchError. */
export function jsonPatch(document: Json, patch: unknown, limits: JsonPatchLimits = jsonPatchLimits): Json {
  if (patch === null) return document;
  if (!isList(patch)) throw malformed("a JSON patch must be an array of operations");
  if (patch.length > limits.operations) {
    throw new PatchError("tooLarge", `The allowed maximum operations in a JSON patch is ${limits.operations}, got ${patch.length}`);
  }
  for (const operation of patch) {
    if (operation !== null && !isObject(operation)) throw malformed("every operation of a JSON patch must be an object");
  }
  const run: Run = { limits, copiedBytes: 0 };
  let current = document;
  for (const operation of patch) current = perform(current, operation as JsonObject | null, run);
  return current;
}

interface Run {
  readonly limits: JsonPatchLimits;
  copiedBytes: number;
}

function perform(document: Json, operation: JsonObject | null, run: Run): Json {
  const kind = text(operation, "op") ?? "unknown";
  switch (kind) {
    case "add":
      return add(document, pathOf(operation, kind), valueOf(operation), kind);
    case "remove":
      return remove(document, pathOf(operation, kind), kind);
    case "replace":
      return replace(document, pathOf(operation, kind), operation!);
    case "move": {
      const from = fromOf(operation, kind);
      const value = get(document, from, kind, "from path");
      return add(remove(document, from, kind), pathOf(operation, kind), value ?? null, kind);
    }
    case "copy": {
      const value = get(document, fromOf(operation, kind), kind, "from path") ?? null;
      run.copiedBytes += jsonSize(value);
      if (run.copiedBytes > run.limits.copiedBytes) {
        throw doesNotApply(`Unable to complete the copy, the accumulated size increase of copy is ${run.copiedBytes}, exceeding the limit ${run.limits.copiedBytes}`);
      }
      return add(document, pathOf(operation, kind), value, kind);
    }
    case "test":
      test(document, pathOf(operation, kind), operation!);
      return document;
    default:
      throw doesNotApply(`Unexpected kind: ${kind}`);
  }
}

function text(operation: JsonObject | null, key: string): string | undefined {
  const value = operation === null ? undefined : own(operation, key);
  return typeof value === "string" ? value : undefined;
}

function pathOf(operation: JsonObject | null, kind: string): string {
  const path = text(operation, "path");
  if (path === undefined) throw doesNotApply(`${kind} operation failed to decode path: missing value`);
  return path;
}

function fromOf(operation: JsonObject | null, kind: string): string {
  const from = text(operation, "from");
  if (from === undefined) throw doesNotApply(`${kind} operation failed to decode from: missing value`);
  return from;
}

// An absent value counts as null.
const valueOf = (operation: JsonObject | null): Json => (operation === null ? null : (own(operation, "value") ?? null));

function replace(document: Json, path: string, operation: JsonObject): Json {
  const value = valueOf(operation);
  if (path === "") {
    if (!isObject(value) && !isList(value)) throw doesNotApply("replace operation value must be object or array");
    return value;
  }
  return edit(document, keysOf(path, "replace", "path"), path, "replace", (parent, key) => {
    if (isObject(parent)) return withKey(parent, key, value);
    const at = indexOf(parent, key);
    if (typeof at === "string") throw doesNotApply(`replace operation does not apply: doc is missing key: ${path}: missing value`);
    return parent.with(at, value);
  });
}

function add(document: Json, path: string, value: Json, kind: string): Json {
  return edit(document, keysOf(path, kind, kind === "add" ? "path" : "destination path"), path, kind, (parent, key) => {
    if (isObject(parent)) return withKey(parent, key, value);
    if (key === "-") return [...parent, value];
    const at = integer(key);
    if (at === undefined) throw doesNotApply(`error in add for path: '${path}': value was not a proper array index: '${key}'`);
    const size = parent.length + 1;
    if (at >= size || at < -size) throw doesNotApply(`error in add for path: '${path}': Unable to access invalid index: ${at}: invalid index referenced`);
    return parent.toSpliced(at < 0 ? at + size : at, 0, value);
  });
}

function remove(document: Json, path: string, kind: string): Json {
  return edit(document, keysOf(path, kind, "path"), path, kind, (parent, key) => {
    if (isObject(parent)) {
      if (!has(parent, key)) throw doesNotApply(`error in ${kind} for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`);
      return withoutKey(parent, key);
    }
    const at = indexOf(parent, key);
    if (typeof at === "string") throw doesNotApply(`error in ${kind} for path: '${path}': ${at}`);
    return parent.toSpliced(at, 1);
  });
}

function test(document: Json, path: string, operation: JsonObject): void {
  const value = path === "" ? document : get(document, path, "test", "path");
  if (!sameJson(value ?? null, valueOf(operation))) throw doesNotApply(`testing value ${path} failed: test failed`);
}

/** The value at a path; undefined for a key that its object does not have. */
function get(document: Json, path: string, kind: string, what: string): Json | undefined {
  const keys = keysOf(path, kind, what);
  const parent = descend(document, keys, keys.length - 1);
  if (parent === undefined) throw missing(kind, what, path);
  const key = keys[keys.length - 1]!;
  if (isObject(parent)) return own(parent, key);
  const at = indexOf(parent, key);
  if (typeof at === "string") throw doesNotApply(`error in ${kind} for path: '${path}': ${at}`);
  return parent[at];
}

const missing = (kind: string, what: string, path: string): PatchError => doesNotApply(`${kind} operation does not apply: doc is missing ${what}: "${path}": missing value`);

function keysOf(path: string, kind: string, what: string): readonly string[] {
  const [, ...keys] = path.split("/");
  if (keys.length === 0) throw missing(kind, what, path);
  return keys.map((key) => key.replace(/~[01]/g, (escape) => (escape === "~1" ? "/" : "~")));
}

type Container = JsonObject | readonly Json[];

function descend(document: Json, keys: readonly string[], depth: number): Container | undefined {
  let at: Json | undefined = document;
  for (let i = 0; i <= depth; i++) {
    if (!isObject(at) && !isList(at)) return undefined;
    if (i === depth) return at;
    at = child(at, keys[i]!);
  }
  return undefined;
}

function child(parent: Container, key: string): Json | undefined {
  if (isObject(parent)) return own(parent, key);
  const at = indexOf(parent, key);
  return typeof at === "string" ? undefined : parent[at];
}

/** Rebuilds the containers from the root down to the one that `change` replaces. */
function edit(document: Json, keys: readonly string[], path: string, kind: string, change: (parent: Container, key: string) => Container): Json {
  const containers: Container[] = [];
  for (let depth = 0; depth < keys.length; depth++) {
    const at: Json | undefined = depth === 0 ? document : child(containers[depth - 1]!, keys[depth - 1]!);
    if (!isObject(at) && !isList(at)) throw missing(kind, "path", path);
    containers.push(at);
  }
  let result: Json = change(containers[keys.length - 1]!, keys[keys.length - 1]!);
  for (let depth = keys.length - 2; depth >= 0; depth--) {
    const parent = containers[depth]!;
    const key = keys[depth]!;
    result = isObject(parent) ? withKey(parent, key, result) : parent.with(indexOf(parent, key) as number, result);
  }
  return result;
}

/** The position of an existing item, or what is wrong with the index. */
function indexOf(items: readonly Json[], key: string): number | string {
  const at = integer(key);
  if (at === undefined) return `parsing "${key}": invalid syntax`;
  if (at >= items.length || at < -items.length) return `Unable to access invalid index: ${at}: invalid index referenced`;
  return at < 0 ? at + items.length : at;
}

const integer = (key: string): number | undefined => (/^[+-]?\d{1,15}$/.test(key) ? Number(key) : undefined);
