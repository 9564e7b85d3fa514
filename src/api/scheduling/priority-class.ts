// Priority classes.
import { type TypeOf, bool, embedded, int32, optional, pointer, required, string } from "#schema";
import { hiddenDefault, openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { PreemptionPolicy } from "../named-types.ts";
import { scheduling } from "../packages.ts";

const { kind } = scheduling;

export const PriorityClass = kind("PriorityClass", "A named priority.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  value: required(2, int32, "The priority; higher goes first."),
  globalDefault: optional(3, bool, "Whether pods without a class get this one."),
  description: optional(4, string, "When to use it."),
  preemptionPolicy: pointer(
    5,
    PreemptionPolicy,
    "Whether its pods push others out: PreemptLowerPriority or Never.",
    {
      ...openEnum("Never", "PreemptLowerPriority"),
      ...hiddenDefault("PreemptLowerPriority"),
    },
  ),
});
export type PriorityClass = TypeOf<typeof PriorityClass>;
