// Admission reviews: the request sent to a webhook, and validation of the response.

import { newUuid } from "#base";
import type { AdmissionAttributes, Equivalent, VersionedObjects } from "../attributes.ts";
import type { GivenStatus } from "./errors.ts";
import { namespaceOf } from "./matching.ts";

export type ReviewVersion = "v1" | "v1beta1";

export interface ReviewResponse {
  readonly allowed: boolean;
  readonly status?: GivenStatus;
  /** JSON patch as text; empty for none. */
  readonly patch: string;
  readonly patchType: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** Returns the first review version that both sides support. */
export const reviewVersion = (accepted: readonly string[] | null | undefined): ReviewVersion | undefined =>
  accepted?.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");

/** Returns the fields of the request that reviews and policy expressions share, except the objects. */
export function requestOf(attributes: AdmissionAttributes, matched: Equivalent): Record<string, unknown> {
  const { subresource, user } = attributes;
  const namespace = namespaceOf(attributes);
  const { options } = attributes;
  return {
    kind: { ...matched.kind },
    resource: { ...matched.resource },
    ...(subresource && { subResource: subresource }),
    requestKind: { ...attributes.requestKind },
    requestResource: { ...attributes.resource },
    ...(subresource && { requestSubResource: subresource }),
    ...(attributes.name && { name: attributes.name }),
    ...(namespace && { namespace }),
    operation: attributes.operation,
    userInfo: {
      ...(user.name && { username: user.name }),
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun: attributes.dryRun,
    options: Object.keys(options).length > 0 ? options : null,
  };
}

export interface ReviewRequest {
  readonly uid: string;
  readonly body: Record<string, unknown>;
}

export function buildReview(
  attributes: AdmissionAttributes,
  matched: Equivalent,
  apiVersion: string,
  objects: VersionedObjects,
): ReviewRequest {
  const uid = newUuid();
  const request = {
    uid,
    ...requestOf(attributes, matched),
    object: objects.object ?? null,
    oldObject: objects.oldObject ?? null,
  };
  return { uid, body: { kind: "AdmissionReview", apiVersion, request } };
}

interface Response {
  readonly uid?: string | null;
  readonly allowed?: boolean | null;
  readonly status?: GivenStatus | null;
  readonly patch?: string | null;
  readonly patchType?: string | null;
  readonly auditAnnotations?: Readonly<Record<string, string>> | null;
  readonly warnings?: readonly string[] | null;
}

export type Checked = { readonly answer: ReviewResponse } | { readonly problem: string };

/** Validates a response. Reviews of v1beta1 are validated leniently, as in the reference. */
export function checkResponse(
  review: Readonly<Record<string, unknown>>,
  expected: { readonly uid: string; readonly version: ReviewVersion; readonly apiVersion: string },
  mutating: boolean,
): Checked {
  const response = review["response"] as Response | null | undefined;
  if (!response) return { problem: "webhook response was absent" };
  const problem = expected.version === "v1" ? strictProblem(review, response, expected, mutating) : undefined;
  if (problem) return { problem };
  return {
    answer: {
      allowed: response.allowed === true,
      ...(response.status && { status: response.status }),
      patch: mutating ? Buffer.from(response.patch ?? "", "base64").toString("utf8") : "",
      // The patch type is ignored in v1beta1.
      patchType: (expected.version === "v1" ? response.patchType : undefined) ?? "JSONPatch",
      annotations: response.auditAnnotations ?? {},
      warnings: response.warnings ?? [],
    },
  };
}

function strictProblem(
  review: Readonly<Record<string, unknown>>,
  { uid, patch, patchType }: Response,
  expected: { readonly uid: string; readonly apiVersion: string },
  mutating: boolean,
): string | undefined {
  if (uid !== expected.uid)
    return `expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(uid ?? "")}`;
  // A response may be decodable as a review without stating its type.
  if (!review["kind"] || !review["apiVersion"])
    return (
      `expected webhook response of ${expected.apiVersion}, Kind=AdmissionReview, got ` +
      `${String(review["apiVersion"] || "/")}, Kind=${String(review["kind"] ?? "")}`
    );
  const hasType = patchType !== undefined && patchType !== null;
  if (!mutating) {
    if (patch) return "validating webhook may not return response.patch";
    return hasType ? "validating webhook may not return response.patchType" : undefined;
  }
  if (patch && !hasType) return "webhook returned response.patch but not response.patchType";
  if (!patch && hasType) return "webhook returned response.patchType but not response.patch";
  return patchType === "" ? 'webhook returned invalid response.patchType of ""' : undefined;
}
