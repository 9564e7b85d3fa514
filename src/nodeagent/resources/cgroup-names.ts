// Names of control groups: all pods below one group, those that are not guaranteed anything below one of
// their class.
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

/** The group below which that of all pods is made. */
export const rootCgroup = (naming: CgroupNaming): string => joined(naming, partsOfGroup(naming.root));

export const podsCgroup = (naming: CgroupNaming): string => joined(naming, partsOf(naming));

export const classCgroup = (naming: CgroupNaming, qos: QosClass): string =>
  joined(naming, [...partsOf(naming), ...classPart(qos)]);

export const podCgroup = (naming: CgroupNaming, qos: QosClass, uid: string): string =>
  joined(naming, [...partsOf(naming), ...classPart(qos), `pod${uid}`]);

const classPart = (qos: QosClass): string[] => (qos === "Guaranteed" ? [] : [qos.toLowerCase()]);

/**
 * Below systemd every group is a slice whose name tells all those above it: /a.slice/a-b.slice; a dash in a
 * part becomes an underscore.
 */
function joined({ driver }: CgroupNaming, parts: readonly string[]): string {
  if (driver === "cgroupfs") return `/${parts.join("/")}`;
  const escaped = parts.map((part) => part.replaceAll("-", "_"));
  return `/${escaped.map((_, i) => `${escaped.slice(0, i + 1).join("-")}.slice`).join("/")}`;
}

/** The uid of the pod whose group has this last part, or undefined. */
export function uidOfGroup({ driver }: CgroupNaming, last: string): string | undefined {
  if (driver === "cgroupfs") return /^pod(.+)$/.exec(last)?.[1];
  return /-pod([^-]+)\.slice$/.exec(last)?.[1]?.replaceAll("_", "-");
}
