// JSON Patch (RFC 6902) with the leniencies that clients of this API family rely on: `replace` of a missing
// key adds it, negative indices count from the end, and text before the first slash of a path is ignored.
//
// The result shares with the document everything that no operation touched.

import { setOwn } from "#base";
import {
  type Json,
  type JsonObject,
  has,
  isDeeper,
  isList,
  isObject,
  jsonSize,
  own,
  sameJson,
} from "./json-value.ts";
import { defaultMaxDepth } from "../json/parse.ts";
import { PatchError, doesNotApply, malformed } from "./patch-error.ts";

export interface JsonPatchLimits {
  /** Maximum number of operations in a patch. */
  readonly operations: number;
  /** Maximum number of bytes that the `copy` operations of a patch may add in total. */
  readonly copiedBytes: number;
  /** Maximum nesting depth of the result. */
  readonly depth: number;
}

export const jsonPatchLimits: JsonPatchLimits = {
  operations: 10_000,
  copiedBytes: 3 * 1024 * 1024,
  depth: defaultMaxDepth,
};

/** Applies a parsed patch to a document. Throws a PatchError. */
export function jsonPatch(document: Json, patch: unknown, limits: JsonPatchLimits = jsonPatchLimits): Json {
  if (patch === null) return document;
  if (!isList(patch))
    throw malformed(
      `error decoding patch: json: cannot unmarshal ${isObject(patch) ? "object" : typeof patch === "boolean" ? "bool" : typeof patch} into Go value of type []handlers.jsonPatchOp`,
    );
  if (patch.length > limits.operations) {
    throw new PatchError(
      "tooLarge",
      `The allowed maximum operations in a JSON patch is ${limits.operations}, got ${patch.length}`,
    );
  }
  for (const operation of patch) {
    if (operation !== null && !isObject(operation))
      throw malformed("every operation of a JSON patch must be an object");
  }
  const run: Run = { limits, copiedBytes: 0, movedItems: 0, deepened: false, owned: new Set() };
  let current = document;
  for (const operation of patch) current = perform(current, operation as JsonObject | null, run);
  return run.deepened ? notTooDeep(current, run) : current;
}

/** Records that a value is placed in the document, which may increase its depth. */
function placed(run: Run, value: Json): Json {
  run.deepened ||= isObject(value) || isList(value);
  return value;
}

/** Checks the depth of a value before anything recurses over it, as operations may have built it up. */
function notTooDeep<T extends Json>(value: T, { limits }: Run): T {
  if (isDeeper(value, limits.depth)) throw doesNotApply("exceeded max depth");
  return value;
}

/** Limit on the list items that a patch may shift in total: more would block other requests. */
const maxMovedItems = 20_000_000;

interface Run {
  readonly limits: JsonPatchLimits;
  copiedBytes: number;
  movedItems: number;
  /** Set when an object or a list was placed; nothing else can increase the depth of the document. */
  deepened: boolean;
  /**
   * Containers created by this patch, which may be modified in place: many operations on a big map copy it
   * once.
   */
  readonly owned: Set<object>;
}

function perform(document: Json, operation: JsonObject | null, run: Run): Json {
  const kind = text(operation, "op") ?? "unknown";
  switch (kind) {
    case "add":
      return add(run, document, pathOf(operation, kind), valueOf(operation), kind);
    case "remove":
      return remove(run, document, pathOf(operation, kind), kind);
    case "replace":
      return replace(run, document, pathOf(operation, kind), operation!);
    case "move": {
      const from = fromOf(operation, kind);
      const value = get(document, from, kind, "from path");
      return add(run, remove(run, document, from, kind), pathOf(operation, kind), value ?? null, kind);
    }
    case "copy": {
      const value = notTooDeep(get(document, fromOf(operation, kind), kind, "from path") ?? null, run);
      run.copiedBytes += jsonSize(value);
      if (run.copiedBytes > run.limits.copiedBytes) {
        throw doesNotApply(
          `Unable to complete the copy, the accumulated size increase of copy is ${run.copiedBytes}, exceeding the limit ${run.limits.copiedBytes}`,
        );
      }
      // A deep copy: containers owned by this patch must not be referenced from two places.
      return add(run, document, pathOf(operation, kind), cloned(value), kind);
    }
    case "test":
      test(run, document, pathOf(operation, kind), operation!);
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

// Returns the operation's value; an absent value counts as null.
const valueOf = (operation: JsonObject | null): Json =>
  operation === null ? null : (own(operation, "value") ?? null);

function cloned(value: Json): Json {
  if (isList(value)) return value.map(cloned);
  if (!isObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const key in value) setOwn(copy, key, cloned(value[key]!));
  return copy;
}

function replace(run: Run, document: Json, path: string, operation: JsonObject): Json {
  const value = placed(run, valueOf(operation));
  if (path === "") {
    // A document is an object or a list; replacing it by anything else is ignored, as in kube-apiserver.
    return isObject(value) || isList(value) ? value : document;
  }
  return edit(run, document, { path, kind: "replace", what: "path" }, (parent, key) => {
    if (!Array.isArray(parent)) return setOwn(parent, key, value);
    const at = indexOf(parent, key);
    if (typeof at === "string")
      throw doesNotApply(`replace operation does not apply: doc is missing key: ${path}: missing value`);
    parent[at] = value;
  });
}

function add(run: Run, document: Json, path: string, value: Json, kind: string): Json {
  placed(run, value);
  return edit(
    run,
    document,
    { path, kind, what: kind === "add" ? "path" : "destination path" },
    (parent, key) => {
      if (!Array.isArray(parent)) return setOwn(parent, key, value);
      if (key === "-") return void parent.push(value);
      const at = integer(key);
      if (at === undefined)
        throw doesNotApply(`error in add for path: '${path}': value was not a proper array index: '${key}'`);
      const size = parent.length + 1;
      if (at >= size || at < -size)
        throw doesNotApply(
          `error in add for path: '${path}': Unable to access invalid index: ${at}: invalid index referenced`,
        );
      splice(run, parent, at < 0 ? at + size : at, 0, value);
    },
  );
}

function remove(run: Run, document: Json, path: string, kind: string): Json {
  return edit(run, document, { path, kind, what: "path" }, (parent, key) => {
    if (!Array.isArray(parent)) {
      if (!has(parent, key))
        throw doesNotApply(
          `error in ${kind} for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`,
        );
      delete parent[key];
      return;
    }
    const at = indexOf(parent, key);
    if (typeof at === "string") throw doesNotApply(`error in ${kind} for path: '${path}': ${at}`);
    splice(run, parent, at, 1);
  });
}

function splice(run: Run, items: Json[], at: number, remove: number, ...values: readonly Json[]): void {
  run.movedItems += items.length - at;
  if (run.movedItems > maxMovedItems)
    throw new PatchError("tooLarge", "the patch inserts or removes too many items of too long lists");
  items.splice(at, remove, ...values);
}

function test(run: Run, document: Json, path: string, operation: JsonObject): void {
  const value = path === "" ? document : get(document, path, "test", "path");
  if (!sameJson(notTooDeep(value ?? null, run), valueOf(operation)))
    throw doesNotApply(`testing value ${path} failed: test failed`);
}

/** Returns the value at a path, or undefined if the object lacks the key. */
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

const missing = (kind: string, what: string, path: string): PatchError =>
  doesNotApply(`${kind} operation does not apply: doc is missing ${what}: "${path}": missing value`);

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

type Editable = Record<string, Json> | Json[];

interface Location {
  readonly path: string;
  readonly kind: string;
  /** How error messages name the path: `path` or `from`. */
  readonly what: string;
}

/**
 * Copies the containers from the root to the end of the path unless they are already owned, then edits the
 * last one in place.
 */
function edit(
  run: Run,
  document: Json,
  { path, kind, what }: Location,
  change: (parent: Editable, key: string) => void,
): Json {
  const keys = keysOf(path, kind, what);
  const root = editable(run, document);
  let parent = root;
  for (let depth = 0; depth < keys.length - 1 && parent !== undefined; depth++) {
    const key = keys[depth]!;
    const next = editable(run, child(parent, key));
    if (next === undefined) parent = undefined;
    else {
      if (Array.isArray(parent)) parent[indexOf(parent, key) as number] = next;
      else setOwn(parent, key, next);
      parent = next;
    }
  }
  if (root === undefined || parent === undefined) throw missing(kind, what, path);
  change(parent, keys[keys.length - 1]!);
  return root;
}

function editable(run: Run, value: Json | undefined): Editable | undefined {
  if (!isObject(value) && !isList(value)) return undefined;
  if (run.owned.has(value)) return value as Editable;
  const copy: Editable = isList(value) ? value.slice() : { ...value };
  run.owned.add(copy);
  return copy;
}

/** Returns the position of an existing item, or an error message for an invalid index. */
function indexOf(items: readonly Json[], key: string): number | string {
  const at = integer(key);
  if (at === undefined) return `parsing "${key}": invalid syntax`;
  if (at >= items.length || at < -items.length)
    return `Unable to access invalid index: ${at}: invalid index referenced`;
  return at < 0 ? at + items.length : at;
}

const integer = (key: string): number | undefined => (/^[+-]?\d{1,15}$/.test(key) ? Number(key) : undefined);
