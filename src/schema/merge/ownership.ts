// Ownership changes of one write: other managers lose the fields it changes, and all managers lose the fields
// it removes.

import {
  type FieldSet,
  difference,
  fieldSetOfPaths,
  intersection,
  isEmptySet,
  recursiveDifference,
} from "./field-set.ts";
import type { JsonObject } from "./json-value.ts";
import { type Manager, withFields } from "./managed-fields.ts";
import type { Message } from "../shape.ts";
import { type MergeType, mergeTypeOf } from "./merge-type.ts";
import { fieldElement } from "./path-element.ts";
import { fittedToType } from "./shared-field-sets.ts";
import { type Changes, changesBetween } from "./typed-compare.ts";

/**
 * Converts a possibly partial object to another API version and returns it with the schema of that version;
 * returns undefined if the version does not exist.
 */
export type ConvertTo = (
  object: JsonObject,
  to: string,
  from: string,
) => { readonly schema: Message | MergeType; readonly object: JsonObject } | undefined;

/** An object in one API version. */
export interface Versioned {
  readonly apiVersion: string;
  readonly type: MergeType;
  readonly object: JsonObject;
}

export interface Versions {
  readonly convert?: ConvertTo | undefined;
  /** Fields that the server resets, and that a write therefore cannot change, by API version. */
  readonly resetFields?: Readonly<Record<string, FieldSet>> | undefined;
}

export function inVersion(from: Versioned, apiVersion: string, { convert }: Versions): Versioned | undefined {
  if (from.apiVersion === apiVersion) return from;
  const converted = convert?.(from.object, apiVersion, from.apiVersion);
  return converted === undefined
    ? undefined
    : { apiVersion, type: mergeTypeOf(converted.schema), object: converted.object };
}

/** Returns what a write changes, in the requested version. */
export type ChangesIn = (apiVersion: string) => Changes | undefined;

export function changesByVersion(before: Versioned, after: Versioned, versions: Versions): ChangesIn {
  const known = new Map<string, Changes | undefined>();
  return (apiVersion) => {
    if (!known.has(apiVersion)) known.set(apiVersion, changesIn(before, after, apiVersion, versions));
    return known.get(apiVersion);
  };
}

function changesIn(
  before: Versioned,
  after: Versioned,
  apiVersion: string,
  versions: Versions,
): Changes | undefined {
  const from = inVersion(before, apiVersion, versions);
  const to = inVersion(after, apiVersion, versions);
  if (from === undefined || to === undefined) return undefined;
  const { changed, removed } = changesBetween(to.type, from.object, to.object);
  const reset = versions.resetFields?.[apiVersion];
  return reset === undefined
    ? { changed, removed }
    : { changed: recursiveDifference(changed, reset), removed: recursiveDifference(removed, reset) };
}

/**
 * Drops managers of versions that no longer exist and fits the field sets of the others to the current
 * schema.
 */
export function fitManagers(
  managers: ReadonlyMap<string, Manager>,
  live: Versioned,
  versions: Versions,
): Map<string, Manager> {
  const result = new Map<string, Manager>();
  for (const [identity, manager] of managers) {
    const type =
      manager.apiVersion === live.apiVersion
        ? live.type
        : inVersion(live, manager.apiVersion, versions)?.type;
    if (type !== undefined) result.set(identity, withFields(manager, fittedToType(type, manager.fields)));
  }
  return result;
}

export interface Conflicting {
  readonly manager: Manager;
  readonly identity: string;
  readonly fields: FieldSet;
}

/** Returns the fields of other managers that a write changes. */
export function conflictsOf(
  managers: ReadonlyMap<string, Manager>,
  writer: string,
  changesIn: ChangesIn,
): Conflicting[] {
  const conflicts: Conflicting[] = [];
  for (const [identity, manager] of managers) {
    if (identity === writer) continue;
    const changes = changesIn(manager.apiVersion);
    if (changes === undefined || isEmptySet(changes.changed)) continue;
    const fields = intersection(manager.fields, changes.changed);
    if (!isEmptySet(fields)) conflicts.push({ manager, identity, fields });
  }
  return conflicts;
}

/**
 * Removes the fields that the write removes from every manager, and the fields that it changes from other
 * managers. Managers left without fields are dropped.
 */
export function shiftOwnership(
  managers: ReadonlyMap<string, Manager>,
  writer: string,
  changesIn: ChangesIn,
): Map<string, Manager> {
  const result = new Map<string, Manager>();
  for (const [identity, manager] of managers) {
    const changes = changesIn(manager.apiVersion);
    if (changes === undefined) continue;
    const kept =
      identity === writer
        ? manager.fields
        : difference(manager.fields, intersection(manager.fields, changes.changed));
    const fields = difference(kept, changes.removed);
    if (!isEmptySet(fields)) result.set(identity, withFields(manager, fields));
  }
  return result;
}

/** Fields that are never owned: identity and system metadata. */
export const unowned: FieldSet = fieldSetOfPaths([
  [fieldElement("apiVersion")],
  [fieldElement("kind")],
  [fieldElement("metadata")],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => [fieldElement("metadata"), fieldElement(name)]),
]);

/** Returns the fields that the writer of an update comes to own. */
export const writtenFields = ({ changed, removed }: Changes): FieldSet =>
  difference(difference(changed, removed), unowned);
