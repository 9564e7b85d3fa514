// Status: the response to a request that does not return an object.
import { type TypeOf, embedded, int32, list, optional, string } from "#schema";
import { StatusReason, UID } from "../named-types.ts";
import { meta } from "../packages.ts";
import { ListMeta } from "./object-meta.ts";

const { message, kind, named } = meta;

export const StatusCause = message("StatusCause", "One reason among several for a failure.", {
  reason: optional(1, named("CauseType", string), "Machine-readable word for the cause."),
  message: optional(2, string, "The cause for people."),
  field: optional(3, string, "Path of the field that caused it, such as spec.containers[0].name."),
});
export type StatusCause = TypeOf<typeof StatusCause>;

export const StatusDetails = message("StatusDetails", "What the answer is about and why.", {
  name: optional(1, string, "Name of the object in question."),
  group: optional(2, string, "API group of the object in question."),
  kind: optional(3, string, "Kind or resource of the object in question."),
  uid: optional(6, UID, "Identity of the object in question."),
  causes: optional(4, list(StatusCause), "Everything that was found wrong."),
  retryAfterSeconds: optional(5, int32, "How long to wait before trying again."),
});
export type StatusDetails = TypeOf<typeof StatusDetails>;

export const Status = kind("Status", "Success or failure of a request.", {
  metadata: embedded(1, ListMeta, "Position and version of the list."),
  status: optional(2, string, "Success or Failure."),
  message: optional(3, string, "What happened, for people."),
  reason: optional(4, StatusReason, "Machine-readable word for the failure."),
  details: optional(5, StatusDetails, "What the answer is about and why."),
  code: optional(6, int32, "The HTTP status code."),
});
export type Status = TypeOf<typeof Status>;
