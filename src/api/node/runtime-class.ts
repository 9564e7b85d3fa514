// Runtime classes.
import { type TypeOf, embedded, list, map, optional, required, string } from "#schema";
import { Toleration } from "../core/affinity.ts";
import { atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ResourceList } from "../named-types.ts";
import { node } from "../packages.ts";

const { message, kind } = node;

export const Overhead = message("Overhead", "Resource overhead of running a pod with the runtime class.", {
  podFixed: optional(1, ResourceList, "Fixed overhead of each pod."),
});
export type Overhead = TypeOf<typeof Overhead>;

export const Scheduling = message("Scheduling", "Scheduling constraints of a runtime class.", {
  nodeSelector: optional(
    1,
    map(string),
    "Labels of the nodes that support the runtime class; merged with the pod's node selector.",
    { atomicMap: true },
  ),
  tolerations: optional(2, list(Toleration), "Tolerations that are added to those of the pod.", atomicList),
});
export type Scheduling = TypeOf<typeof Scheduling>;

export const RuntimeClass = kind("RuntimeClass", "A container runtime configuration that pods can select.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  handler: required(2, string, "Name of the handler in the configuration of the container runtime."),
  overhead: optional(3, Overhead, "Resource overhead of running a pod with the runtime class."),
  scheduling: optional(4, Scheduling, "Scheduling constraints of pods with the runtime class."),
});
export type RuntimeClass = TypeOf<typeof RuntimeClass>;
