// Names of control groups: all pods are below one group, and those that are not Guaranteed below the group of
// their QoS class.
import type { QosClass } from "../plan/qos.ts";

export interface CgroupNaming {
  /** Empty or absolute. */
  readonly root: string;
  /** The group of all pods. */
  readonly podsGroup: string;
  readonly driver: "cgroupfs" | "systemd";
}

export const partsOfGroup = (name: string): string[] => name.split("/").filter((part) => part !== "");

const partsOf = ({ root, podsGroup }: CgroupNaming): string[] => [...partsOfGroup(root), podsGroup];

/** Returns the parent of the group of all pods. */
export const rootCgroup = (naming: CgroupNaming): string => joined(naming, partsOfGroup(naming.root));

export const podsCgroup = (naming: CgroupNaming): string => joined(naming, partsOf(naming));

export const classCgroup = (naming: CgroupNaming, qos: QosClass): string =>
  joined(naming, [...partsOf(naming), ...classPart(qos)]);

export const podCgroup = (naming: CgroupNaming, qos: QosClass, uid: string): string =>
  joined(naming, [...partsOf(naming), ...classPart(qos), `pod${uid}`]);

const classPart = (qos: QosClass): string[] => (qos === "Guaranteed" ? [] : [qos.toLowerCase()]);

/**
 * Joins the components of a name. With the systemd driver every group is a slice whose name contains its
 * parents: /a.slice/a-b.slice; dashes within a component become underscores.
 */
function joined({ driver }: CgroupNaming, parts: readonly string[]): string {
  if (driver === "cgroupfs") return `/${parts.join("/")}`;
  const escaped = parts.map((part) => part.replaceAll("-", "_"));
  return `/${escaped.map((_, i) => `${escaped.slice(0, i + 1).join("-")}.slice`).join("/")}`;
}

/** Returns the uid of the pod whose group has this base name, or undefined. */
export function uidOfGroup({ driver }: CgroupNaming, last: string): string | undefined {
  if (driver === "cgroupfs") return /^pod(.+)$/.exec(last)?.[1];
  return /-pod([^-]+)\.slice$/.exec(last)?.[1]?.replaceAll("_", "-");
}
