// How one write shifts ownership: fields that it changes leave their other managers, fields that it removes
// leave everybody.

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
import { type Changes, changesBetween } from "./typed-compare.ts";
import { fitToType } from "./typed-remove.ts";

/**
 * Gives the same object, of which parts may be missing, in another API version than it has, with that
 * version's schema; undefined when there is no such version.
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
  /** By API version, the fields that this write cannot change because the server resets them. */
  readonly resetFields?: Readonly<Record<string, FieldSet>> | undefined;
}

export function inVersion(from: Versioned, apiVersion: string, { convert }: Versions): Versioned | undefined {
  if (from.apiVersion === apiVersion) return from;
  const converted = convert?.(from.object, apiVersion, from.apiVersion);
  return converted === undefined
    ? undefined
    : { apiVersion, type: mergeTypeOf(converted.schema), object: converted.object };
}

/** What a write changes, in the version asked for. */
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

/** Drops managers of versions that no longer exist and fits the sets of the others to today's schema. */
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
    if (type !== undefined) result.set(identity, withFields(manager, fitToType(type, manager.fields)));
  }
  return result;
}

export interface Conflicting {
  readonly manager: Manager;
  readonly identity: string;
  readonly fields: FieldSet;
}

/** The fields of other managers that a write changes. */
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
 * Every manager without what the write removes, and the others without what it changes. Managers left with
 * nothing are gone.
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

/** Fields that nobody owns: identity and bookkeeping. */
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

/** The fields that the writer of an update owns by it. */
export const writtenFields = ({ changed, removed }: Changes): FieldSet =>
  difference(difference(changed, removed), unowned);
