// Normalizes a decoded value in one walk: fields outside the schema are dropped (and reported), metadata of
// embedded objects is decoded as metadata, and keys are sorted. A value that is already normal is returned as
// it is.
import { ObjectMeta } from "#api";
import { type FieldError, fieldErrorText, invalidValue, setOwn, untypedValue } from "#base";
import { DecodeError, type OpenWalk, fromJsonValue } from "#schema";
import { type Structural, metaFields } from "./structural.ts";

/** Appends a key to a path, in the reference's notation: `spec.list[0].name`. */
const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** The type or metadata of an embedded object has a value of the wrong type. */
export class EmbeddedError extends DecodeError {
  readonly found: FieldError;
  constructor(found: FieldError) {
    super(fieldErrorText(found), found.field);
    this.found = found;
  }
}

/** Reports whether paths below are needed because a finding might refer to them. */
const needsPaths = (schema: Structural | undefined, walk: OpenWalk): boolean =>
  walk.unknownPaths !== undefined || (schema !== undefined && (schema.embedded || schema.hasEmbedded));

/** Reports whether the keys are in the order in which they are written. */
function inOrder(value: object): boolean {
  let last = "";
  for (const key in value) {
    if (key < last && !isIndex.test(last)) return false;
    last = key;
  }
  return true;
}
const isIndex = /^(?:0|[1-9]\d{0,9})$/;

/** Prunes the value of one field of a whole object. */
export function pruneField(
  key: string,
  value: unknown,
  schema: Structural | undefined,
  walk: OpenWalk,
  keep: boolean,
): unknown {
  const inner = schema?.properties.get(key);
  if (inner) return prune(value, inner, key, walk, inner.preserveUnknown);
  if (keep) return prune(value, undefined, key, walk, true);
  walk.unknown = true;
  walk.unknownPaths?.push(key);
  return undefined;
}

export function pruneValue(
  value: unknown,
  schema: Structural | undefined,
  path: string,
  walk: OpenWalk,
): unknown {
  return prune(value, schema, path, walk, schema?.preserveUnknown ?? false);
}

/** Prunes a value; `keep` preserves keys that the schema does not declare. */
function prune(
  value: unknown,
  schema: Structural | undefined,
  path: string,
  walk: OpenWalk,
  keep: boolean,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (--walk.depthLeft < 0) throw new DecodeError("exceeded max depth", path);
  const kept = Array.isArray(value)
    ? pruneList(value, schema, path, walk, keep)
    : pruneObject(value as Record<string, unknown>, schema, path, walk, keep);
  walk.depthLeft++;
  return kept;
}

function pruneList(
  value: unknown[],
  schema: Structural | undefined,
  path: string,
  walk: OpenWalk,
  keep: boolean,
): unknown[] {
  let target = value;
  for (let i = 0; i < value.length; i++) {
    const given = value[i];
    if (typeof given === "number") walk.numbers = true;
    if (typeof given !== "object" || given === null) continue;
    const items = schema?.items;
    // Below a list that preserves unknown fields, pruning resumes only if its items have a schema.
    const inner = items ? items.preserveUnknown || keep : keep;
    const kept = prune(given, items, needsPaths(items, walk) ? `${path}[${i}]` : path, walk, inner);
    if (kept !== given) {
      if (target === value && !walk.own) target = value.slice();
      target[i] = kept;
    }
  }
  return target;
}

function pruneObject(
  value: Record<string, unknown>,
  schema: Structural | undefined,
  path: string,
  walk: OpenWalk,
  keep: boolean,
): Record<string, unknown> {
  let target = value;
  for (const key in value) {
    walk.keys++;
    const given = value[key];
    let kept: unknown;
    if (schema?.embedded && metaFields.has(key))
      kept =
        key === "metadata"
          ? coerceMetadata(given, below(path, key), walk)
          : typeText(given, below(path, key));
    else {
      const inner = schema?.properties.get(key);
      if (inner !== undefined || schema?.additional !== undefined) {
        const of = inner ?? schema?.additional?.of;
        kept =
          typeof given === "object" && given !== null
            ? prune(
                given,
                of,
                needsPaths(of, walk) ? below(path, key) : path,
                walk,
                of?.preserveUnknown ?? false,
              )
            : given;
      } else if (keep)
        kept =
          typeof given === "object" && given !== null ? prune(given, undefined, path, walk, true) : given;
      else {
        walk.unknown = true;
        walk.unknownPaths?.push(below(path, key));
      }
    }
    if (kept !== given || kept === undefined) {
      if (target === value && !walk.own) target = { ...value };
      if (kept === undefined) delete target[key];
      else target[key] = kept;
    }
  }
  return inOrder(target) ? target : sorted(target);
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setOwn(result, key, value[key]);
  return result;
}

/** Returns the kind or apiVersion of an embedded object, which must be a string. */
function typeText(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new EmbeddedError(invalidValue(path, untypedValue(value), "must be a string"));
}

/**
 * Drops fields that metadata does not have from the metadata of an embedded object; null becomes empty
 * metadata.
 */
function coerceMetadata(value: unknown, path: string, walk: OpenWalk): unknown {
  if (value === null) return {};
  countKeys(value, walk);
  return knownMetadata(value, path, (unknown) => {
    walk.unknown = true;
    walk.unknownMetadata?.push(...unknown.map((name) => `${path}.${name}`));
  });
}

/** Returns the value with only the fields that metadata has. */
export function knownMetadata(
  value: unknown,
  path: string,
  drops?: (unknown: readonly string[]) => void,
): Record<string, unknown> {
  const { value: meta, unknown } = decodedMetadata(value, path);
  if (unknown.length > 0) drops?.(unknown);
  const { creationTimestamp, ...rest } = meta;
  return creationTimestamp === null ? rest : meta;
}

function decodedMetadata(value: unknown, path: string) {
  try {
    return fromJsonValue(ObjectMeta, value);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new EmbeddedError(invalidValue(path, untypedValue(value), error.message));
  }
}

function countKeys(value: unknown, walk: OpenWalk): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) for (const item of value) countKeys(item, walk);
  else
    for (const item of Object.values(value)) {
      walk.keys++;
      countKeys(item, walk);
    }
}
