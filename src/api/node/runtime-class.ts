// Runtime classes.
import { type TypeOf, embedded, list, map, optional, required, string } from "#schema";
import { Toleration } from "../core/affinity.ts";
import { atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ResourceList } from "../named-types.ts";
import { node } from "../packages.ts";

const { message, kind } = node;

export const Overhead = message("Overhead", "What running a pod costs beside its containers.", {
  podFixed: optional(1, ResourceList, "The amounts."),
});
export type Overhead = TypeOf<typeof Overhead>;

export const Scheduling = message("Scheduling", "Nodes that have the runtime.", {
  nodeSelector: optional(1, map(string), "Labels they have; added to those of the pod.", { atomicMap: true }),
  tolerations: optional(2, list(Toleration), "Taints to tolerate; added to those of the pod.", atomicList),
});
export type Scheduling = TypeOf<typeof Scheduling>;

export const RuntimeClass = kind("RuntimeClass", "A way to run the containers of a pod.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  handler: required(2, string, "What the container runtime calls it."),
  overhead: optional(3, Overhead, "What it costs."),
  scheduling: optional(4, Scheduling, "Nodes that have it."),
});
export type RuntimeClass = TypeOf<typeof RuntimeClass>;
