// The reply of a webhook, read as a review of the version that was asked for. What cannot be read as one is a failed
// call, in the words of kube-apiserver's client.
import { Status } from "#api";
import { jsonKind, refusalText } from "#base";
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
  parseJson,
  parseYaml,
  string,
} from "#schema";
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The review in a reply; throws an error that says why there is none. */
export function readReply(reply: WebhookReply, apiVersion: string): Record<string, unknown> {
  const { status, body } = reply;
  const type = reply.headers?.get("content-type") ?? "";
  if (status < 200 || status > 206) throw new Error(refusalText(status, body, type));
  if (body === "") throw new Error(`0-length response with status code: ${status} and content type: ${type}`);
  const review = parsed(body) ?? {};
  if (!isObject(review))
    throw untyped(`cannot unmarshal ${jsonKind(review)} into Go value of type ${header}`);
  checkKind(review, apiVersion);
  if (!isWellTyped(review["response"])) refuseWrongTypes(review);
  return review;
}

const header =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const untyped = (why: string): Error =>
  new Error(`couldn't get version/kind; json parse error: json: ${why}`);

/** Whatever a reply says of its form, it is read as JSON, or as YAML if it does not look like that. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    try {
      return (/^\s*\{/.test(text) ? parseJson(text) : parseYaml(text)).value;
    } catch (error) {
      throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
    }
  }
}

/** A review that says nothing of its kind or version is taken for what was asked for. */
function checkKind(review: Record<string, unknown>, asked: string): void {
  for (const key of ["apiVersion", "kind"])
    if (typeof (review[key] ?? "") !== "string")
      throw untyped(`cannot unmarshal ${jsonKind(review[key])} into Go struct field .${key} of type string`);
  const apiVersion = (review["apiVersion"] as string | null) || asked;
  const kind = (review["kind"] as string | null) || "AdmissionReview";
  if (apiVersion === asked && kind === "AdmissionReview") return;
  const words = apiVersion.split("/");
  if (words.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const [group, version] = asked.split("/") as [string, string];
  const known =
    kind === "AdmissionReview"
      ? [`${group}/v1`, `${group}/v1beta1`].includes(apiVersion)
      : kind === "Status" && apiVersion === "v1";
  throw new Error(
    known
      ? `converting (${words.at(-1)}.${kind}) to (${version}.AdmissionReview): unknown conversion`
      : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
  );
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
