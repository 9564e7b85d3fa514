// Miscellaneous kinds of the core group.
import { type TypeOf, bytes, embedded, list, optional, required, string } from "#schema";
import { patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const ComponentCondition = message("ComponentCondition", "Whether a component is well.", {
  type: required(
    1,
    named("ComponentConditionType", string),
    "What the condition is about; Healthy is known.",
  ),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  message: optional(3, string, "What the check said."),
  error: optional(4, string, "Why the check failed."),
});
export type ComponentCondition = TypeOf<typeof ComponentCondition>;

export const ComponentStatus = kind("ComponentStatus", "How a component of the cluster is; deprecated.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  conditions: optional(2, list(ComponentCondition), "What the checks said.", patchMerge("type")),
});
export type ComponentStatus = TypeOf<typeof ComponentStatus>;

export const RangeAllocation = kind("RangeAllocation", "Which addresses or ports of a range are taken.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  range: required(2, string, "The range."),
  data: required(3, bytes, "The allocation as bits."),
});
export type RangeAllocation = TypeOf<typeof RangeAllocation>;
