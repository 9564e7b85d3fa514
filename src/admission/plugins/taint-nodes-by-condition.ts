// Taints new nodes as not ready until the node lifecycle controller has observed that they are ready.
import type { Node } from "#api";
import type { Dialect } from "#dialect";
import { type AdmissionPlugin, typed } from "../attributes.ts";

export function taintNodesByCondition({ names }: Dialect): AdmissionPlugin {
  const key = names.taints.notReady;
  return {
    name: "TaintNodesByCondition",
    handles: ["CREATE"],
    resources: ["nodes"],
    mutate: async ({ resource, subresource, object }) => {
      if (resource.group !== "" || resource.resource !== "nodes" || subresource) return;
      const { spec } = typed<Node>(object);
      if (spec.taints?.some((taint) => taint.key === key && taint.effect === "NoSchedule")) return;
      spec.taints = [...(spec.taints ?? []), { key, effect: "NoSchedule" }];
    },
  };
}
