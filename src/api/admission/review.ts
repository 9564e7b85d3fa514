// Admission reviews: the request to a webhook and its response.
import {
  type TypeOf,
  bool,
  bytes,
  embedded,
  list,
  map,
  optional,
  pointer,
  rawExtension,
  required,
  string,
} from "#schema";
import { UserInfo } from "../authentication/token.ts";
import { GroupVersionKind, GroupVersionResource } from "../meta/group-version.ts";
import { Status } from "../meta/status.ts";
import { admission } from "../packages.ts";

const { message, kind } = admission;

export const AdmissionRequest = message("AdmissionRequest", "A request that is to be judged.", {
  uid: required(1, string, "Identity of this question; the answer repeats it."),
  kind: embedded(2, GroupVersionKind, "Kind of the object, as the webhook wants it.", {
    published: "required",
  }),
  resource: embedded(3, GroupVersionResource, "Resource of the request, as the webhook wants it.", {
    published: "required",
  }),
  subResource: optional(4, string, "Subresource of the request, if any."),
  requestKind: optional(13, GroupVersionKind, "Kind of the object in the original request."),
  requestResource: optional(14, GroupVersionResource, "Resource of the original request."),
  requestSubResource: optional(15, string, "Subresource of the original request."),
  name: optional(5, string, "Name of the object, where it is known."),
  namespace: optional(6, string, "Namespace of the object, if any."),
  operation: required(7, string, "CREATE, UPDATE, DELETE or CONNECT."),
  userInfo: embedded(8, UserInfo, "Who asks.", { published: "required" }),
  object: embedded(9, rawExtension, "The object as it would be."),
  oldObject: embedded(10, rawExtension, "The object as it is."),
  dryRun: pointer(11, bool, "Whether nothing will be stored."),
  options: embedded(12, rawExtension, "Options of the request."),
});
export type AdmissionRequest = TypeOf<typeof AdmissionRequest>;

export const AdmissionResponse = message("AdmissionResponse", "The judgement.", {
  uid: required(1, string, "Identity of the question."),
  allowed: required(2, bool, "Whether the request may go on."),
  status: optional(3, Status, "Why not."),
  patch: optional(4, bytes, "Changes to the object."),
  patchType: pointer(5, string, "Form of the changes; JSONPatch only."),
  auditAnnotations: optional(6, map(string), "What to note in the audit log."),
  warnings: optional(7, list(string), "What to tell the client."),
});
export type AdmissionResponse = TypeOf<typeof AdmissionResponse>;

export const AdmissionReview = kind("AdmissionReview", "A question to a webhook, or its answer.", {
  request: optional(1, AdmissionRequest, "The question."),
  response: optional(2, AdmissionResponse, "The answer."),
});
export type AdmissionReview = TypeOf<typeof AdmissionReview>;
