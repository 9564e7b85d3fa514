// Conditions of a status, shared by several kinds.
import { type TypeOf, embedded, int64, optional, required, string, time } from "#schema";
import { ConditionStatus } from "../named-types.ts";
import { meta } from "../packages.ts";

const { message } = meta;

export const Condition = message("Condition", "A condition of an object.", {
  type: required(1, string, "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  observedGeneration: optional(3, int64, "Generation of the object that the condition was determined from."),
  lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed.", {
    published: "required",
  }),
  reason: required(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: required(6, string, "Human-readable details of the last transition."),
});
export type Condition = TypeOf<typeof Condition>;
