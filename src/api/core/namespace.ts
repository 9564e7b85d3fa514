// Namespaces.
import { type TypeOf, embedded, list, optional, required, string, time } from "#schema";
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const NamespaceSpec = message("NamespaceSpec", "Specification of a namespace.", {
  finalizers: optional(
    1,
    list(named("FinalizerName", string)),
    "Finalizers that must be removed from the list before the namespace is deleted from storage.",
  ),
});
export type NamespaceSpec = TypeOf<typeof NamespaceSpec>;

export const NamespaceCondition = message("NamespaceCondition", "A condition of a namespace.", {
  type: required(1, named("NamespaceConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
  reason: optional(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(6, string, "Human-readable details of the last transition."),
});
export type NamespaceCondition = TypeOf<typeof NamespaceCondition>;

export const NamespaceStatus = message("NamespaceStatus", "Current status of a namespace.", {
  phase: optional(
    1,
    named("NamespacePhase", string),
    "Lifecycle phase: Active, or Terminating while the contents of the namespace are deleted.",
    {
      ...openEnum("Active", "Terminating"),
      ...hiddenDefault("Active"),
    },
  ),
  conditions: optional(
    2,
    list(NamespaceCondition),
    "Conditions that report the progress and failures of the deletion.",
    patchMerge("type"),
  ),
});
export type NamespaceStatus = TypeOf<typeof NamespaceStatus>;

export const Namespace = kind("Namespace", "A scope for the names of objects.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, NamespaceSpec, "Specification of the desired behavior of the namespace."),
  status: embedded(3, NamespaceStatus, "Current status of the namespace."),
});
export type Namespace = TypeOf<typeof Namespace>;
