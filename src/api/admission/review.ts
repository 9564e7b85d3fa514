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

export const AdmissionRequest = message("AdmissionRequest", "A request to be admitted or rejected.", {
  uid: required(1, string, "UID of this call of the webhook, which the response must repeat."),
  kind: embedded(
    2,
    GroupVersionKind,
    "Kind of the object, converted to the version that the webhook matches.",
    {
      published: "required",
    },
  ),
  resource: embedded(
    3,
    GroupVersionResource,
    "Resource of the request, converted to the version that the webhook matches.",
    {
      published: "required",
    },
  ),
  subResource: optional(4, string, "Subresource of the request, if any."),
  requestKind: optional(13, GroupVersionKind, "Kind of the object in the original request."),
  requestResource: optional(14, GroupVersionResource, "Resource of the original request."),
  requestSubResource: optional(15, string, "Subresource of the original request, if any."),
  name: optional(5, string, "Name of the object; empty on create if the server generates it."),
  namespace: optional(6, string, "Namespace of the object, if any."),
  operation: required(7, string, "Operation that is performed: CREATE, UPDATE, DELETE or CONNECT."),
  userInfo: embedded(8, UserInfo, "User that made the request.", { published: "required" }),
  object: embedded(9, rawExtension, "Object of the incoming request; null for DELETE."),
  oldObject: embedded(10, rawExtension, "Existing object; set only for UPDATE and DELETE."),
  dryRun: pointer(11, bool, "Whether the request is a dry run, which persists no changes."),
  options: embedded(12, rawExtension, "Options of the operation, such as DeleteOptions or CreateOptions."),
});
export type AdmissionRequest = TypeOf<typeof AdmissionRequest>;

export const AdmissionResponse = message("AdmissionResponse", "Response to an admission request.", {
  uid: required(1, string, "UID of the admission request."),
  allowed: required(2, bool, "Whether the request is admitted."),
  status: optional(3, Status, "Details on why the request was rejected."),
  patch: optional(4, bytes, "Patch of the object, in the format named by patchType."),
  patchType: pointer(5, string, "Type of the patch; only JSONPatch is allowed."),
  auditAnnotations: optional(6, map(string), "Annotations added to the audit event of the request."),
  warnings: optional(7, list(string), "Warnings returned to the client."),
});
export type AdmissionResponse = TypeOf<typeof AdmissionResponse>;

export const AdmissionReview = kind(
  "AdmissionReview",
  "A request to an admission webhook, or its response.",
  {
    request: optional(1, AdmissionRequest, "Attributes of the admission request."),
    response: optional(2, AdmissionResponse, "Response of the webhook."),
  },
);
export type AdmissionReview = TypeOf<typeof AdmissionReview>;
