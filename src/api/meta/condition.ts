// Conditions of a status, shared by several kinds.
import { type TypeOf, embedded, int64, optional, required, string, time } from "#schema";
import { ConditionStatus } from "../named-types.ts";
import { meta } from "../packages.ts";

const { message } = meta;

export const Condition = message("Condition", "One aspect of an object's state.", {
  type: required(1, string, "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  observedGeneration: optional(3, int64, "The generation this condition was judged at."),
  lastTransitionTime: embedded(4, time, "When the status last changed.", { published: "required" }),
  reason: required(5, string, "One CamelCase word for the last change."),
  message: required(6, string, "The last change, for people."),
});
export type Condition = TypeOf<typeof Condition>;
