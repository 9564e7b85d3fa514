// Field managers after a write that is not an apply: the writer takes over what it changed.

import { type FieldSet, isEmptySet, leaf, union, unionOf } from "./field-set.ts";
import type { JsonObject } from "./json-value.ts";
import {
  type Managed,
  type ManagedFieldsEntry,
  type Manager,
  requestsReset,
  encodeManagers,
  entriesOf,
  identityOf,
  managersOrNone,
  noManagers,
  secondsOf,
  withFields,
  withoutManagers,
} from "./managed-fields.ts";
import type { Message } from "../shape.ts";
import { type MergeType, mergeTypeOf } from "./merge-type.ts";
import {
  type ConvertTo,
  type Versioned,
  type Versions,
  changesByVersion,
  fitManagers,
  shiftOwnership,
  writtenFields,
} from "./ownership.ts";
import { compareText } from "./path-element.ts";
import { checkHiddenItems, checkTyped } from "./typed-check.ts";
import { TypedError } from "./typed-error.ts";
import { emptyObject } from "./message-fields.ts";

export interface Write {
  readonly schema: Message | MergeType;
  /** The API version the writer used, such as `apps/v1`. */
  readonly apiVersion: string;
  /** The name of the writer; empty if unknown. */
  readonly manager: string;
  readonly subresource?: string | undefined;
  /** The time of the write, in seconds: `2006-01-02T15:04:05Z`. */
  readonly now: string;
  readonly convert?: ConvertTo | undefined;
  readonly resetFields?: Readonly<Record<string, FieldSet>> | undefined;
}

export interface Update extends Write {
  /** The stored object in the writer's version; undefined for a create. */
  readonly live: JsonObject | undefined;
  /** The object to be stored, in the writer's version. Its managedFields are what the client requests. */
  readonly next: JsonObject;
}

/** Maximum number of update managers; the oldest beyond that are merged into one. */
export const maxUpdateManagers = 10;

/**
 * Returns the new `metadata.managedFields`, empty if the object's managers are not, or no longer, tracked.
 */
export function updateManagers(update: Update): readonly ManagedFieldsEntry[] {
  const requested = entriesOf(update.next);
  const before = managersBefore(update, requested);
  if (before.managers.size === 0 && update.live !== undefined) return [];
  try {
    const after = tracked(update, before);
    return reused(after, requested);
  } catch (error) {
    // An object that does not match its declaration, or has ambiguous list items, cannot be tracked; whether
    // the write is valid is left to validation.
    if (error instanceof TypedError) return [];
    throw error;
  }
}

// A client may set managers itself, except through a subresource; invalid managers are ignored.
function managersBefore(
  { live, subresource }: Update,
  requested: readonly ManagedFieldsEntry[] | undefined,
): Managed {
  if (subresource !== undefined && subresource !== "") return managersOrNone(entriesOf(live));
  if (requestsReset(requested)) return noManagers;
  const managed = managersOrNone(requested);
  return managed.managers.size > 0 ? managed : managersOrNone(entriesOf(live));
}

/** Encodes the managers; returns the client's own list if it is equal. */
function reused(
  managed: Managed,
  requested: readonly ManagedFieldsEntry[] | undefined,
): readonly ManagedFieldsEntry[] {
  const entries = encodeManagers(managed);
  return requested !== undefined &&
    requested.length === entries.length &&
    entries.every((entry, i) => entry === requested[i])
    ? requested
    : entries;
}

/**
 * Tracks a write on top of the existing managers. Throws a TypedError if an object does not match its
 * declaration or has ambiguous list items.
 */
export function tracked(update: Update, before: Managed): Managed {
  const type = mergeTypeOf(update.schema);
  const live: Versioned = {
    apiVersion: update.apiVersion,
    type,
    object: update.live === undefined ? emptyOf(update.schema) : withoutManagers(update.live),
  };
  const next: Versioned = { apiVersion: update.apiVersion, type, object: withoutManagers(update.next) };
  const versions: Versions = { convert: update.convert, resetFields: update.resetFields };
  if (isOpen(update.schema)) {
    // These objects have not been checked against their schema, which may have changed since the live one was
    // stored.
    checkTyped(type, next.object);
    if (update.live !== undefined) checkTyped(type, live.object);
  } else checkHiddenItems(type, next.object, update.live === undefined ? undefined : live.object);

  const writer: Manager = {
    name: update.manager === "" ? "unknown" : update.manager,
    operation: "Update",
    apiVersion: update.apiVersion,
    subresource: update.subresource ?? "",
    fields: leaf,
  };
  const identity = identityOf(writer);
  const changesIn = changesByVersion(live, next, versions);
  const managers =
    before.managers.size === 0
      ? new Map<string, Manager>()
      : shiftOwnership(fitManagers(before.managers, live, versions), identity, changesIn);
  const written = writtenFields(changesIn(update.apiVersion)!);
  if (isEmptySet(written)) return { managers, times: before.times };
  const owner = managers.get(identity) ?? writer;
  managers.set(identity, withFields(owner, union(owner.fields, written)));
  return mergeOldest({ managers, times: new Map(before.times).set(identity, update.now) });
}

/**
 * Reports whether clients may store values outside the declaration: the schemaless part of a custom resource.
 */
export const isOpen = (schema: Message | MergeType): boolean =>
  !("is" in schema) && schema.more.open !== undefined;

export const emptyOf = (schema: Message | MergeType): JsonObject =>
  "is" in schema ? {} : emptyObject(schema);

/** Merges the oldest update managers of each version into one until the limit is met. */
function mergeOldest(managed: Managed): Managed {
  if (managed.managers.size <= maxUpdateManagers) return managed;
  const updaters = [...managed.managers]
    .filter(([, manager]) => manager.operation === "Update")
    .map(([identity]) => identity);
  if (updaters.length <= maxUpdateManagers) return managed;
  const managers = new Map(managed.managers);
  const times = new Map(managed.times);
  const seconds = new Map(updaters.map((identity) => [identity, secondsOf(times.get(identity))]));
  updaters.sort((a, b) => seconds.get(a)! - seconds.get(b)! || compareText(a, b));

  let remaining = updaters.length;
  const gathered = new Map<string, FieldSet[]>();
  const gather = (bucket: string, { fields }: Manager): void => void gathered.get(bucket)!.push(fields);
  const oldest = new Map<string, string>();
  for (const identity of updaters) {
    if (remaining <= maxUpdateManagers) break;
    const manager = managers.get(identity)!;
    const first = oldest.get(manager.apiVersion);
    if (first === undefined) {
      oldest.set(manager.apiVersion, identity);
      continue;
    }
    const ancient: Manager = {
      name: "ancient-changes",
      operation: "Update",
      apiVersion: manager.apiVersion,
      subresource: "",
      fields: leaf,
    };
    const bucket = identityOf(ancient);
    // The bucket may be the younger of the two; it then absorbs the older one.
    if (identity === bucket || !managers.has(bucket)) {
      if (!gathered.has(bucket)) gathered.set(bucket, [managers.get(bucket)?.fields ?? leaf]);
      if (!managers.has(bucket)) managers.set(bucket, ancient);
      gather(bucket, managers.get(first)!);
      managers.delete(first);
    }
    if (identity !== bucket) {
      if (!gathered.has(bucket)) gathered.set(bucket, [managers.get(bucket)!.fields]);
      gather(bucket, manager);
      managers.delete(identity);
    }
    const time = times.get(identity);
    if (time === undefined) times.delete(bucket);
    else times.set(bucket, time);
    remaining--;
  }
  for (const [bucket, sets] of gathered)
    managers.set(bucket, withFields(managers.get(bucket)!, unionOf(sets)));
  return { managers, times };
}
