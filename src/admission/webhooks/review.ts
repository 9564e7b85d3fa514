// The question that a webhook is asked, and the checks on its answer.

import { randomUUID } from "node:crypto";
import { decodedBase64 } from "#schema";
import type { AdmissionAttributes, Equivalent } from "../attributes.ts";
import type { GivenStatus } from "./errors.ts";
import { namespaceOf } from "./matching.ts";

export type ReviewVersion = "v1" | "v1beta1";

export interface ReviewAnswer {
  readonly allowed: boolean;
  readonly status?: GivenStatus;
  /** The operations of a JSON patch, as text; empty for none. */
  readonly patch: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** The first version of the review that both sides know. */
export const reviewVersion = (accepted: readonly string[] | null | undefined): ReviewVersion | undefined =>
  accepted?.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");

/** What the review and policy expressions say of a request beside its objects. */
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

export interface ReviewQuestion {
  readonly uid: string;
  readonly body: Record<string, unknown>;
}

export function question(
  attributes: AdmissionAttributes,
  matched: Equivalent,
  apiVersion: string,
  objects: ReturnType<AdmissionAttributes["versioned"]>,
): ReviewQuestion {
  const uid = randomUUID();
  const request = {
    uid,
    ...requestOf(attributes, matched),
    object: objects.object ?? null,
    oldObject: objects.oldObject ?? null,
  };
  return { uid, body: { kind: "AdmissionReview", apiVersion, request } };
}

interface Response {
  readonly uid?: unknown;
  readonly allowed?: unknown;
  readonly status?: unknown;
  readonly patch?: unknown;
  readonly patchType?: unknown;
  readonly auditAnnotations?: unknown;
  readonly warnings?: unknown;
}

export type Checked = { readonly answer: ReviewAnswer } | { readonly problem: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const texts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** What the answer says, or why it is none. Reviews of v1beta1 are read leniently, as they always were. */
export function checkAnswer(
  body: unknown,
  asked: { readonly uid: string; readonly version: ReviewVersion; readonly apiVersion: string },
  mutating: boolean,
): Checked {
  if (!isObject(body)) return { problem: "the answer is not an object" };
  const response = body["response"];
  if (response === undefined || response === null) return { problem: "webhook response was absent" };
  if (!isObject(response) || !wellTyped(response))
    return { problem: "the response has fields of wrong types" };
  const given = response as Response;
  const problem = asked.version === "v1" ? strictProblem(body, given, asked, mutating) : undefined;
  if (problem) return { problem };
  const patch = mutating && typeof given.patch === "string" ? given.patch : "";
  return {
    answer: {
      allowed: given.allowed === true,
      ...(isObject(given.status) && { status: given.status }),
      patch: Buffer.from(patch, "base64").toString("utf8"),
      annotations: (given.auditAnnotations ?? {}) as Readonly<Record<string, string>>,
      warnings: (given.warnings ?? []) as readonly string[],
    },
  };
}

function wellTyped(response: Response): boolean {
  const { uid, allowed, status, patch, patchType, auditAnnotations, warnings } = response;
  const textOrNone = (value: unknown) => value === undefined || value === null || typeof value === "string";
  return (
    textOrNone(uid) &&
    (allowed === undefined || allowed === null || typeof allowed === "boolean") &&
    (status === undefined || status === null || isObject(status)) &&
    (patch === undefined ||
      patch === null ||
      (typeof patch === "string" && decodedBase64(patch) !== undefined)) &&
    textOrNone(patchType) &&
    (auditAnnotations === undefined ||
      auditAnnotations === null ||
      (isObject(auditAnnotations) &&
        Object.values(auditAnnotations).every((value) => typeof value === "string"))) &&
    (warnings === undefined || warnings === null || texts(warnings))
  );
}

function strictProblem(
  body: Record<string, unknown>,
  { uid, patch, patchType }: Response,
  asked: { readonly uid: string; readonly apiVersion: string },
  mutating: boolean,
): string | undefined {
  if (uid !== asked.uid)
    return `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(uid ?? "")}`;
  if (body["kind"] !== "AdmissionReview" || body["apiVersion"] !== asked.apiVersion)
    return (
      `expected webhook response of ${asked.apiVersion}, Kind=AdmissionReview, got ` +
      `${String(body["apiVersion"] ?? "")}, Kind=${String(body["kind"] ?? "")}`
    );
  const hasType = patchType !== undefined && patchType !== null;
  if (!mutating) {
    if (patch) return "validating webhook may not return response.patch";
    return hasType ? "validating webhook may not return response.patchType" : undefined;
  }
  if (patch && !hasType) return "webhook returned response.patch but not response.patchType";
  if (!patch && hasType) return "webhook returned response.patchType but not response.patch";
  if (hasType && patchType === "") return 'webhook returned invalid response.patchType of ""';
  return hasType && patchType !== "JSONPatch" && !changesNothing(patch)
    ? `unsupported patch type ${JSON.stringify(patchType)}`
    : undefined;
}

/** Of a patch without operations nobody asks the type. */
const changesNothing = (patch: unknown): boolean =>
  typeof patch === "string" && /^\s*\[\s*\]\s*$/.test(Buffer.from(patch, "base64").toString());
