// Managers as seen through the scale subresource, which exposes one field of its parent: the number of
// replicas.

import { type FieldSet, difference, fieldSetOfPaths, hasPath, isEmptySet, union } from "./field-set.ts";
import {
  type ManagedFieldsEntry,
  type Manager,
  decodeManagers,
  encodeManagers,
  identityOf,
  withFields,
} from "./managed-fields.ts";
import { type FieldPath, fieldElement } from "./path-element.ts";

/** Path of the replicas field in each API version of the parent; null in a version without scale. */
export type ReplicasPaths = Readonly<Record<string, FieldPath | null>>;

export interface ScaleOf {
  readonly paths: ReplicasPaths;
  /** The parent's API version addressed by the request. */
  readonly parentVersion: string;
  /** The API version of the scale object, such as `autoscaling/v1`. */
  readonly scaleVersion: string;
}

const replicas: FieldPath = [fieldElement("spec"), fieldElement("replicas")];
const onlyReplicas: FieldSet = fieldSetOfPaths([replicas]);

/** Returns the parent's managers of the replicas as managers of the scale object. */
export function toScaleManagers(
  parent: readonly ManagedFieldsEntry[],
  { paths, scaleVersion }: Pick<ScaleOf, "paths" | "scaleVersion">,
): readonly ManagedFieldsEntry[] {
  const { managers, times } = decodeManagers(parent);
  const result = new Map<string, Manager>();
  for (const [identity, manager] of managers) {
    const path = paths[manager.apiVersion];
    if (path !== undefined && path !== null && hasPath(manager.fields, path))
      result.set(identity, { ...manager, apiVersion: scaleVersion, fields: onlyReplicas });
  }
  return encodeManagers({ managers: result, times });
}

/**
 * Returns the parent's managers after a change to the scale object's managers: managers that lost the
 * replicas there lose them in the parent.
 */
export function fromScaleManagers(
  parent: readonly ManagedFieldsEntry[],
  scale: readonly ManagedFieldsEntry[],
  { paths, parentVersion }: Pick<ScaleOf, "paths" | "parentVersion">,
): readonly ManagedFieldsEntry[] {
  const before = decodeManagers(parent);
  const scaled = new Map(
    [...decodeManagers(scale).managers.values()].map((manager) => [scaleIdentity(manager), manager]),
  );
  const result = new Map<string, Manager>();
  for (const [identity, manager] of before.managers) {
    const path = paths[manager.apiVersion];
    if (path === undefined) continue;
    const own = scaleIdentity(manager);
    if (path === null || !hasPath(manager.fields, path)) result.set(identity, manager);
    else if (scaled.delete(own)) result.set(identity, manager);
    else {
      const fields = difference(manager.fields, fieldSetOfPaths([path]));
      if (!isEmptySet(fields)) result.set(identity, withFields(manager, fields));
    }
  }
  const path = paths[parentVersion];
  if (path !== undefined && path !== null) {
    for (const manager of scaled.values()) {
      if (!hasPath(manager.fields, replicas)) continue;
      const { entry: _, ...rest } = manager;
      const taken: Manager = { ...rest, apiVersion: parentVersion, fields: fieldSetOfPaths([path]) };
      const identity = identityOf(taken);
      const known = result.get(identity);
      result.set(
        identity,
        known === undefined ? taken : withFields(known, union(known.fields, taken.fields)),
      );
    }
  }
  return encodeManagers({ managers: result, times: before.times });
}

// Identity without the version, which differs between the parent and the scale object.
const scaleIdentity = (manager: Manager): string => identityOf({ ...manager, apiVersion: "" });
