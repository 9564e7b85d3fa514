// The managers of an object: who wrote which fields, with which operation, through which subresource, and
// when. `metadata.managedFields` lists them; here they are a map by identity, since an applier keeps its
// entry across API versions and an updater does not.

import { type FieldSet, parseFieldSet } from "./field-set.ts";
import { type Json, type JsonObject, isEmptyObject, isList, isObject } from "./json-value.ts";
import { compareText } from "./path-element.ts";

export type Operation = "Apply" | "Update";

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string | null;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldSet | JsonObject | null;
  readonly subresource?: string;
}

export interface Manager {
  readonly name: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly fields: FieldSet;
  /** The entry it was decoded from, unless more than its time may have changed. */
  readonly entry?: ManagedFieldsEntry;
}

/**
 * Managers and times by identity. Times are stored separately, so that an entry that is removed and added
 * again within one operation keeps its time.
 */
export interface Managed {
  readonly managers: ReadonlyMap<string, Manager>;
  readonly times: ReadonlyMap<string, string>;
}

export const noManagers: Managed = { managers: new Map(), times: new Map() };

/** Returns the identity of a manager. The API version is part of it for updates only. */
export function identityOf({
  name,
  operation,
  apiVersion,
  subresource,
}: Omit<Manager, "fields" | "entry">): string {
  const version =
    operation === "Apply" || apiVersion === "" ? "" : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  return `{${name === "" ? "" : `"manager":${JSON.stringify(name)},`}"operation":"${operation}"${version}${subresource === "" ? "" : `,"subresource":${JSON.stringify(subresource)}`}}`;
}

/** Decodes `metadata.managedFields`. Throws a SyntaxError that describes an invalid entry. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managed {
  const managers = new Map<string, Manager>();
  const times = new Map<string, string>();
  entries.forEach((entry, i) => {
    const { operation, apiVersion, fieldsType } = entry;
    if (operation !== "Apply" && operation !== "Update")
      throw new SyntaxError("operation must be `Apply` or `Update`");
    if (apiVersion === undefined || apiVersion === "") throw new SyntaxError("apiVersion must not be empty");
    if (fieldsType === undefined || fieldsType === "")
      throw new SyntaxError(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== "FieldsV1")
      throw new SyntaxError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`);
    const fields = parseFieldSet(entry.fieldsV1);
    const manager = {
      name: entry.manager ?? "",
      operation,
      apiVersion,
      subresource: entry.subresource ?? "",
      fields,
      entry,
    } as const;
    const identity = identityOf(manager);
    managers.set(identity, manager);
    if (entry.time !== undefined && entry.time !== null) times.set(identity, entry.time);
    else times.delete(identity);
  });
  return { managers, times };
}

/** Encodes the list for storage: appliers first, then by time, name, version and subresource. */
export function encodeManagers({ managers, times }: Managed): readonly ManagedFieldsEntry[] {
  const entries: ManagedFieldsEntry[] = [];
  for (const [identity, manager] of managers) entries.push(encode(manager, times.get(identity)));
  if (entries.length < 2) return entries;
  return entries
    .map((entry) => ({ entry, seconds: secondsOf(entry.time) }))
    .sort(compareEntries)
    .map(({ entry }) => entry);
}

function encode(
  { name, operation, apiVersion, subresource, fields, entry }: Manager,
  time: string | undefined,
): ManagedFieldsEntry {
  if (entry !== undefined && entry.fieldsV1 === fields && (entry.time ?? undefined) === time) return entry;
  return {
    ...(name === "" ? {} : { manager: name }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: fields,
    ...(subresource === "" ? {} : { subresource }),
  };
}

interface Timed {
  readonly entry: ManagedFieldsEntry;
  readonly seconds: number;
}

function compareEntries(
  { entry: a, seconds: aSeconds }: Timed,
  { entry: b, seconds: bSeconds }: Timed,
): number {
  return (
    compareText(a.operation ?? "", b.operation ?? "") ||
    aSeconds - bSeconds ||
    compareText(a.manager ?? "", b.manager ?? "") ||
    compareText(a.apiVersion ?? "", b.apiVersion ?? "") ||
    compareText(a.subresource ?? "", b.subresource ?? "")
  );
}

export const secondsOf = (time: string | null | undefined): number =>
  time === undefined || time === null ? 0 : Math.floor(Date.parse(time) / 1000);

export const withFields = (manager: Manager, fields: FieldSet): Manager =>
  fields === manager.fields ? manager : { ...manager, fields };

/** Returns the managedFields of an object, or undefined if it has none. */
export function entriesOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const metadata = object?.["metadata"];
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  return isList(entries) ? (entries as readonly unknown[] as readonly ManagedFieldsEntry[]) : undefined;
}

/** Returns the object with these managedFields; an empty list removes the field. */
export function withManagers(object: JsonObject, entries: readonly ManagedFieldsEntry[]): JsonObject {
  if (entriesOf(object) === entries) return object;
  const bare = withoutManagers(object);
  if (entries.length === 0) return bare;
  const metadata = isObject(bare["metadata"]) ? bare["metadata"] : {};
  return {
    ...bare,
    metadata: { ...metadata, managedFields: entries as readonly unknown[] as readonly Json[] },
  };
}

export function withoutManagers(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isObject(metadata) || !("managedFields" in metadata)) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** Reports whether a client requests a reset of managedFields: an empty list, or a single empty entry. */
export function requestsReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  if (entries.length === 0) return true;
  return entries.length === 1 && isObject(entries[0]) && isEmptyObject(entries[0]);
}

/** Throws a SyntaxError if the entries are invalid. */
export const checkManagers = (entries: readonly ManagedFieldsEntry[]): void => void decodeManagers(entries);

/** Decodes managers; returns none if the entries are absent or invalid. */
export function managersOrNone(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  if (entries === undefined || entries.length === 0) return noManagers;
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof SyntaxError) return noManagers;
    throw error;
  }
}
