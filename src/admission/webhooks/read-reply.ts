// The reply of a webhook, read as a review of the version that was asked for. What cannot be read as one is a failed
// call, in the words of kube-apiserver's client.
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

const AdmissionResponse = message("AdmissionResponse", "What a webhook answers.", {
  uid: optional(1, string, "Identity of the review."),
  allowed: optional(2, bool, "Whether the request may pass."),
  status: optional(3, Status, "Why not."),
  patch: optional(4, bytes, "What is changed."),
  patchType: optional(5, string, "How the patch is written."),
  auditAnnotations: optional(6, map(string), "What the audit log says."),
  warnings: optional(7, list(string), "What the client is told."),
});
const AdmissionReview: Message = message("AdmissionReview", "A question and its answer.", {
  response: optional(2, AdmissionResponse, "The answer."),
});

/** The review in a reply; throws an error that says why there is none. */
export function readReply(reply: WebhookReply, apiVersion: string): Record<string, unknown> {
  const review = reviewDocument(reply, { apiVersion, kind: "AdmissionReview" });
  if (!isWellTyped(review["response"])) refuseWrongTypes(review);
  return review;
}

/** Whether the usual answer has values of the right types; others are looked at more closely. */
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
