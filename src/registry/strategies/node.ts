// Nodes: machines that run pods.
import { Node } from "#api";
import { strategy } from "../strategy.ts";
import { nodeTableColumns } from "./node-columns.ts";
import { nodeErrors, nodeUpdateErrors } from "./node-validation.ts";
import { roundUp } from "./rules/round-up.ts";

/** Aligns podCIDR and podCIDRs, of which a client may send either or both; podCIDR wins if they differ. */
function alignRanges({ spec }: Node): void {
  if (spec.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR];
  else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
}

export const node = strategy<Node>({
  resource: "nodes",
  singular: "node",
  shortNames: ["no"],
  scope: "Cluster",
  hub: Node,
  // A client that registers a node may set its status at the same time.
  status: "kept",
  storagePath: "minions",
  defaults: (obj) => {
    const { status } = obj;
    alignRanges(obj);
    roundUp(status.capacity);
    if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity };
    roundUp(status.allocatable);
  },
  prepareForCreate: ({ spec, status }) => {
    delete spec.configSource;
    delete status.config;
  },
  prepareForUpdate: ({ spec }, { spec: old }) => {
    if (!old.configSource) delete spec.configSource;
  },
  validate: (obj, { dialect }) => nodeErrors(obj, dialect),
  validateUpdate: (obj, old, { dialect }) => [
    ...nodeErrors(obj, dialect, true),
    ...nodeUpdateErrors(obj, old, dialect),
  ],
  warnings: ({ spec }) => [
    ...(spec.configSource ? ["spec.configSource: the feature is removed"] : []),
    ...(spec.externalID ? ["spec.externalID: this field is deprecated, and is unused"] : []),
  ],
  fields: ({ spec }) => ({ "spec.unschedulable": String(spec.unschedulable ?? false) }),
  columns: nodeTableColumns,
  subresources: {
    status: {
      merge: (sent, old) => {
        const { config, ...status } = sent.status;
        return {
          ...old,
          metadata: sent.metadata,
          status: old.status.config && config ? { ...status, config } : status,
        };
      },
      validate: (obj, old, { dialect }) => nodeUpdateErrors(obj, old, dialect),
      resets: ["spec"],
    },
  },
});
