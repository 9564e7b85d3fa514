// Priority classes.
import { type TypeOf, bool, embedded, int32, optional, pointer, required, string } from "#schema";
import { hiddenDefault, openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { PreemptionPolicy } from "../named-types.ts";
import { scheduling } from "../packages.ts";

const { kind } = scheduling;

export const PriorityClass = kind("PriorityClass", "Maps the name of a priority class to a priority.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  value: required(2, int32, "Priority of pods of the class; higher values are more important."),
  globalDefault: optional(
    3,
    bool,
    "Whether the class is the default of pods that name none; at most one should be.",
  ),
  description: optional(4, string, "When the class should be used."),
  preemptionPolicy: pointer(
    5,
    PreemptionPolicy,
    "Whether pods of the class may preempt others: PreemptLowerPriority (default) or Never.",
    {
      ...openEnum("Never", "PreemptLowerPriority"),
      ...hiddenDefault("PreemptLowerPriority"),
    },
  ),
});
export type PriorityClass = TypeOf<typeof PriorityClass>;
