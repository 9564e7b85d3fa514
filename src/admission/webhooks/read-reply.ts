// Decodes the response of a webhook as a review of the requested version. Failures to decode are reported as
// by kube-apiserver's client.
import { Status } from "#api";
import {
  DecodeError,
  type Message,
  apiPackage,
  bool,
  bytes,
  fromJsonValue,
  list,
  map,
  optional,
  string,
} from "#schema";
import { isObject, reviewDocument } from "./review-document.ts";
import type { WebhookReply } from "./transport.ts";

const { message } = apiPackage({ package: "admission.v1" });

const AdmissionResponse = message("AdmissionResponse", "Response of a webhook.", {
  uid: optional(1, string, "UID of the review."),
  allowed: optional(2, bool, "Whether the request is admitted."),
  status: optional(3, Status, "Reason of a denial."),
  patch: optional(4, bytes, "Patch of the object."),
  patchType: optional(5, string, "Type of the patch."),
  auditAnnotations: optional(6, map(string), "Annotations of the audit event."),
  warnings: optional(7, list(string), "Warnings for the client."),
});
const AdmissionReview: Message = message("AdmissionReview", "Review of a request.", {
  response: optional(2, AdmissionResponse, "Response to the request."),
});

/** Returns the review of a response; throws an error if it cannot be decoded. */
export function readReply(reply: WebhookReply, apiVersion: string): Record<string, unknown> {
  const review = reviewDocument(reply, { apiVersion, kind: "AdmissionReview" });
  if (!isWellTyped(review["response"])) refuseWrongTypes(review);
  return review;
}

/**
 * Reports whether the common fields of a response have the right types; other responses are decoded in full.
 */
function isWellTyped(response: unknown): boolean {
  if (response === undefined || response === null) return true;
  if (!isObject(response)) return false;
  const { uid, allowed, status, patch, patchType, auditAnnotations, warnings } = response;
  return (
    typeof uid === "string" &&
    typeof allowed === "boolean" &&
    [status, patch, patchType, auditAnnotations, warnings].every((value) => value === undefined)
  );
}

function refuseWrongTypes(review: Record<string, unknown>): void {
  try {
    fromJsonValue(AdmissionReview, { response: review["response"] });
  } catch (error) {
    throw error instanceof DecodeError ? new Error(error.message) : error;
  }
}
