// Table columns of nodes.
import type { Node } from "#api";
import type { Column } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { joined, orNone } from "./cells/text.ts";

function statusText({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === "Ready");
  const words = [ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown"];
  if (spec.unschedulable) words.push("SchedulingDisabled");
  return joined(words);
}

// Labels that name a role, in any domain of a dialect: `node-role.<domain>/<role>`, or `<domain>/role` with
// the role as its value.
const roleLabel = /^node-role\.[^/]+\/(.+)$/;
const roleValue = /^[^/]+\/role$/;

function rolesText({ metadata: { labels = {} } }: Node): string {
  const roles = Object.entries(labels).flatMap(
    ([key, value]) => roleLabel.exec(key)?.[1] ?? (roleValue.test(key) && value ? value : []),
  );
  return orNone(joined([...new Set(roles)].toSorted()));
}

const addressText =
  (wanted: string) =>
  ({ status }: Node): string =>
    status.addresses?.find(({ type }) => type === wanted)?.address ?? "<none>";

const orUnknown = (text: string): string => text || "<unknown>";
/** Returns the agent's version; the name of its field contains the name of the agent. */
const agentVersion = ({ status: { nodeInfo } }: Node): string => {
  const found = Object.entries(nodeInfo).find(([key]) => key.endsWith("Version") && !known.has(key));
  return found ? String(found[1]) : "";
};
const known = new Set(["kernelVersion", "containerRuntimeVersion"]);

export const nodeTableColumns: readonly Column<Node>[] = [
  nameColumn,
  {
    name: "Status",
    type: "string",
    doc: "Whether the node is ready and schedulable.",
    cell: statusText,
  },
  { name: "Roles", type: "string", doc: "Roles of the node.", cell: rolesText },
  ageColumn,
  { name: "Version", type: "string", doc: "Version of the node agent.", cell: agentVersion },
  {
    name: "Internal-IP",
    type: "string",
    priority: 1,
    doc: "Internal IP address.",
    cell: addressText("InternalIP"),
  },
  {
    name: "External-IP",
    type: "string",
    priority: 1,
    doc: "External IP address.",
    cell: addressText("ExternalIP"),
  },
  {
    name: "OS-Image",
    type: "string",
    priority: 1,
    doc: "Operating system of the node.",
    cell: ({ status }) => orUnknown(status.nodeInfo.osImage),
  },
  {
    name: "Kernel-Version",
    type: "string",
    priority: 1,
    doc: "Kernel version.",
    cell: ({ status }) => orUnknown(status.nodeInfo.kernelVersion),
  },
  {
    name: "Container-Runtime",
    type: "string",
    priority: 1,
    doc: "Container runtime and its version.",
    cell: ({ status }) => orUnknown(status.nodeInfo.containerRuntimeVersion),
  },
];
