// Storage capacity that CSI drivers publish: a volume is provisioned only for a node with access to enough of it.
import type { CSIStorageCapacity, StorageClass } from "#api";
import { compareQuantity, parseQuantity } from "#base";
import type { SeenClaim } from "#controllerkit";
import type { LabelledNode } from "../plugins/node-terms.ts";
import { selectsLabels } from "../plugins/inter-pod-affinity.ts";
import type { VolumeView } from "./volume-view.ts";

type CapacityCheck = (node: Pick<LabelledNode, "labels">) => boolean;
const always: CapacityCheck = () => true;

/** Returns which nodes have access to enough storage; all if the driver does not publish its capacity. */
export function capacityCheck(
  { spec }: SeenClaim,
  { provisioner, metadata }: StorageClass,
  volumes: Pick<VolumeView, "csiDriver" | "capacities">,
): CapacityCheck {
  const requested = spec.resources.requests?.["storage"];
  if (requested === undefined || !volumes.csiDriver(provisioner)?.spec.storageCapacity) return always;
  const size = parseQuantity(requested);
  const isSufficient = ({ capacity, maximumVolumeSize }: CSIStorageCapacity): boolean => {
    // The size of a volume may be limited to less than the capacity.
    const limit = maximumVolumeSize ?? capacity;
    return typeof limit === "string" && compareQuantity(parseQuantity(limit), size) >= 0;
  };
  // Most topologies are a label: nodes are looked up by it, since there may be one capacity for each node.
  const byLabel = new Map<string, CSIStorageCapacity[]>();
  const keys = new Set<string>();
  for (const each of volumes.capacities(metadata.name!)) {
    if (!each.nodeTopology || !isSufficient(each)) continue;
    const [key = "", value = ""] = Object.entries(each.nodeTopology.matchLabels ?? {})[0] ?? [];
    keys.add(key);
    byLabel.getOrInsertComputed(`${key}=${value}`, () => []).push(each);
  }
  return ({ labels }) =>
    [...keys].some((key) =>
      byLabel
        .get(`${key}=${key === "" ? "" : labels[key]}`)
        ?.some(({ nodeTopology }) => selectsLabels(nodeTopology, labels)),
    );
}
