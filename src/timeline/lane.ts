// The lane of one object: its points, from events and from changes of the object itself.
import type { LanePoints } from "./lane-points.ts";

export interface ObjectName {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty if the reporter did not know it. */
  readonly uid: string;
}

export interface Lane extends ObjectName {
  /** Set again once the uid of a node is known. */
  uid: string;
  readonly points: LanePoints;
}

/** Reports whether the object is a node whose reporter knows only its name, as node agents do: it stands for the uid. */
export const isNodeByName = (object: ObjectName): boolean =>
  isNode(object) && (object.uid === object.name || object.uid === "");

export const isNode = ({ group, kind, namespace }: ObjectName): boolean =>
  kind === "Node" && group === "" && namespace === "";

/**
 * Returns the key of an object's lane. Objects of the same name with different uids have separate lanes. The
 * key begins with the namespace, as events may contain uids of objects in other namespaces.
 */
export const laneKey = ({ group, kind, namespace, name, uid }: ObjectName): string =>
  `${namespace}/${uid === "" ? `${kind}.${group}/${name}` : uid}`;

export const newLane = (object: ObjectName, points: LanePoints): Lane => ({ ...object, points });

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
