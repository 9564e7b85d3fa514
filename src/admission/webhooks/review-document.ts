// The document that a webhook replies with, of whatever kind of review: read as kube-apiserver's client reads it, and
// refused in its words.
import { jsonKind, refusalText } from "#base";
import { parseJson, parseYaml } from "#schema";
import type { WebhookReply } from "./transport.ts";

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What was asked for. */
export interface AskedReview {
  readonly apiVersion: string;
  readonly kind: string;
  /** Where the kind is known, in errors that say so. */
  readonly scheme?: string;
  /** Whether it holds objects, with integers beyond 2^53. */
  readonly objects?: boolean;
}

/** Throws an error that says why a reply is no such review. */
export function reviewDocument(reply: WebhookReply, asked: AskedReview): Record<string, unknown> {
  const { status, body } = reply;
  const type = reply.headers?.get("content-type") ?? "";
  if (status < 200 || status > 206) throw new Error(refusalText(status, body, type));
  if (body === "") throw new Error(`0-length response with status code: ${status} and content type: ${type}`);
  const review = parsed(body, asked) ?? {};
  if (!isObject(review))
    throw untyped(`cannot unmarshal ${jsonKind(review)} into Go value of type ${header}`);
  checkKind(review, asked);
  return review;
}

const header =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const untyped = (why: string): Error =>
  new Error(`couldn't get version/kind; json parse error: json: ${why}`);

/** Whatever a reply says of its form, it is read as JSON, or as YAML if it does not look like that. */
function parsed(text: string, { objects = false }: AskedReview): unknown {
  try {
    return objects ? parseJson(text).value : (JSON.parse(text) as unknown);
  } catch {
    try {
      return (/^\s*\{/.test(text) ? parseJson(text) : parseYaml(text)).value;
    } catch (error) {
      throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
    }
  }
}

/** A review that says nothing of its kind or version is taken for what was asked for. */
function checkKind(review: Record<string, unknown>, asked: AskedReview): void {
  for (const key of ["apiVersion", "kind"])
    if (typeof (review[key] ?? "") !== "string")
      throw untyped(`cannot unmarshal ${jsonKind(review[key])} into Go struct field .${key} of type string`);
  const apiVersion = (review["apiVersion"] as string | null) || asked.apiVersion;
  const kind = (review["kind"] as string | null) || asked.kind;
  if (apiVersion === asked.apiVersion && kind === asked.kind) return;
  const words = apiVersion.split("/");
  if (words.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const [group, version] = asked.apiVersion.split("/") as [string, string];
  const known =
    kind === asked.kind
      ? [`${group}/v1`, `${group}/v1beta1`].includes(apiVersion)
      : kind === "Status" && apiVersion === "v1";
  const where = asked.scheme === undefined ? "" : ` in scheme ${JSON.stringify(asked.scheme)}`;
  throw new Error(
    known
      ? `converting (${words.at(-1)}.${kind}) to (${version}.${asked.kind}): unknown conversion`
      : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}${where}`,
  );
}
