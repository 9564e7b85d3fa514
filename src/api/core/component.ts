// Miscellaneous kinds of the core group.
import { type TypeOf, bytes, embedded, list, optional, required, string } from "#schema";
import { patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const ComponentCondition = message("ComponentCondition", "A health condition of a component.", {
  type: required(
    1,
    named("ComponentConditionType", string),
    "Type of the condition; the only known type is Healthy.",
  ),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  message: optional(3, string, "Message returned by the health check."),
  error: optional(4, string, "Error code of the health check."),
});
export type ComponentCondition = TypeOf<typeof ComponentCondition>;

export const ComponentStatus = kind("ComponentStatus", "Health of a control plane component; deprecated.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  conditions: optional(
    2,
    list(ComponentCondition),
    "Observed conditions of the component.",
    patchMerge("type"),
  ),
});
export type ComponentStatus = TypeOf<typeof ComponentStatus>;

export const RangeAllocation = kind("RangeAllocation", "Allocation state of a range of addresses or ports.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  range: required(2, string, "Range that is allocated from, such as a CIDR or a port range."),
  data: required(3, bytes, "Bitmap of the allocated members of the range."),
});
export type RangeAllocation = TypeOf<typeof RangeAllocation>;
