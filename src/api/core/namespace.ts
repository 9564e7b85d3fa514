// Namespaces.
import { type TypeOf, embedded, list, optional, required, string, time } from "#schema";
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const NamespaceSpec = message("NamespaceSpec", "How a namespace ends.", {
  finalizers: optional(
    1,
    list(named("FinalizerName", string)),
    "Who must have cleaned up before the namespace may go.",
  ),
});
export type NamespaceSpec = TypeOf<typeof NamespaceSpec>;

export const NamespaceCondition = message("NamespaceCondition", "One aspect of a namespace's state.", {
  type: required(1, named("NamespaceConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastTransitionTime: embedded(4, time, "When the status last changed."),
  reason: optional(5, string, "One CamelCase word for the last change."),
  message: optional(6, string, "The last change, for people."),
});
export type NamespaceCondition = TypeOf<typeof NamespaceCondition>;

export const NamespaceStatus = message("NamespaceStatus", "Where a namespace is in its life.", {
  phase: optional(
    1,
    named("NamespacePhase", string),
    "Active, or Terminating while its contents are removed.",
    {
      ...openEnum("Active", "Terminating"),
      ...hiddenDefault("Active"),
    },
  ),
  conditions: optional(2, list(NamespaceCondition), "What holds up the removal.", patchMerge("type")),
});
export type NamespaceStatus = TypeOf<typeof NamespaceStatus>;

export const Namespace = kind("Namespace", "A scope for names.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, NamespaceSpec, "How the namespace ends."),
  status: embedded(3, NamespaceStatus, "Where the namespace is in its life."),
});
export type Namespace = TypeOf<typeof Namespace>;
