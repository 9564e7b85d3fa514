// Status: the response to a request that does not return an object.
import { type TypeOf, embedded, int32, list, optional, string } from "#schema";
import { StatusReason, UID } from "../named-types.ts";
import { meta } from "../packages.ts";
import { ListMeta } from "./object-meta.ts";

const { message, kind, named } = meta;

export const StatusCause = message("StatusCause", "A cause of a failure.", {
  reason: optional(1, named("CauseType", string), "Machine-readable description of the cause."),
  message: optional(2, string, "Human-readable description of the cause."),
  field: optional(3, string, "Path of the field that caused the error, such as spec.containers[0].name."),
});
export type StatusCause = TypeOf<typeof StatusCause>;

export const StatusDetails = message("StatusDetails", "Additional details of a response.", {
  name: optional(1, string, "Name of the object that the status is about."),
  group: optional(2, string, "API group of the object that the status is about."),
  kind: optional(3, string, "Kind or resource of the object that the status is about."),
  uid: optional(6, UID, "UID of the object that the status is about."),
  causes: optional(4, list(StatusCause), "Causes of the failure."),
  retryAfterSeconds: optional(5, int32, "Seconds to wait before the request is retried."),
});
export type StatusDetails = TypeOf<typeof StatusDetails>;

export const Status = kind("Status", "Outcome of a request that does not return an object.", {
  metadata: embedded(1, ListMeta, "Standard list metadata."),
  status: optional(2, string, "Outcome of the operation: Success or Failure."),
  message: optional(3, string, "Human-readable description of the outcome."),
  reason: optional(4, StatusReason, "Machine-readable reason for the failure."),
  details: optional(5, StatusDetails, "Additional details, specific to the reason."),
  code: optional(6, int32, "Suggested HTTP status code of the response."),
});
export type Status = TypeOf<typeof Status>;
