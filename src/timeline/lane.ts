// One object's lane: its points, whether they come from events or from the object itself.
import type { LanePoints } from "./lane-points.ts";

export interface ObjectName {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty where whoever reported did not know it. */
  readonly uid: string;
}

export interface Lane extends ObjectName {
  readonly points: LanePoints;
}

/** Two lives of one name are two lanes. */
export const laneKey = ({ group, kind, namespace, name, uid }: ObjectName): string =>
  uid === "" ? `${kind}.${group}/${namespace}/${name}` : uid;

export const newLane = (object: ObjectName, points: LanePoints): Lane => ({ ...object, points });

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
