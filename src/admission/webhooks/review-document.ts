// Decodes the document that a webhook returns, for any kind of review, as kube-apiserver's client does and
// with its error texts.
import { jsonKind, responseErrorText } from "#base";
import { parseJson, parseYaml } from "#schema";
import type { WebhookReply } from "./transport.ts";

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The expected review. */
export interface ExpectedReview {
  readonly apiVersion: string;
  readonly kind: string;
  /** Name of the scheme in errors, if they contain one. */
  readonly scheme?: string;
  /** Whether it contains objects, which may have integers beyond 2^53. */
  readonly objects?: boolean;
}

/** Decodes a response; throws an error if it is not the expected review. */
export function reviewDocument(reply: WebhookReply, expected: ExpectedReview): Record<string, unknown> {
  const { status, body } = reply;
  const type = reply.headers?.get("content-type") ?? "";
  if (status < 200 || status > 206) throw new Error(responseErrorText(status, body, type));
  if (body === "") throw new Error(`0-length response with status code: ${status} and content type: ${type}`);
  const review = parsed(body, expected) ?? {};
  if (!isObject(review))
    throw untyped(`cannot unmarshal ${jsonKind(review)} into Go value of type ${header}`);
  checkKind(review, expected);
  return review;
}

const header =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const untyped = (why: string): Error =>
  new Error(`couldn't get version/kind; json parse error: json: ${why}`);

/** Parses JSON, or YAML if it does not look like JSON; the content type is ignored. */
function parsed(text: string, { objects = false }: ExpectedReview): unknown {
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

/** Validates the type of a review; missing kind or version default to the expected ones. */
function checkKind(review: Record<string, unknown>, expected: ExpectedReview): void {
  for (const key of ["apiVersion", "kind"])
    if (typeof (review[key] ?? "") !== "string")
      throw untyped(`cannot unmarshal ${jsonKind(review[key])} into Go struct field .${key} of type string`);
  const apiVersion = (review["apiVersion"] as string | null) || expected.apiVersion;
  const kind = (review["kind"] as string | null) || expected.kind;
  if (apiVersion === expected.apiVersion && kind === expected.kind) return;
  const words = apiVersion.split("/");
  if (words.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const [group, version] = expected.apiVersion.split("/") as [string, string];
  const known =
    kind === expected.kind
      ? [`${group}/v1`, `${group}/v1beta1`].includes(apiVersion)
      : kind === "Status" && apiVersion === "v1";
  const where = expected.scheme === undefined ? "" : ` in scheme ${JSON.stringify(expected.scheme)}`;
  throw new Error(
    known
      ? `converting (${words.at(-1)}.${kind}) to (${version}.${expected.kind}): unknown conversion`
      : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}${where}`,
  );
}
