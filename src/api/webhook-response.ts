// Responses of webhooks that review tokens, requests and images. Errors have the wording of kube-apiserver's
// decoders, because they become visible in reviews and rejections.
import { type Message, type TypeOf, fromJsonValue, parseJson, parseYaml } from "#schema";
import { headerOf, redacted } from "./config/config-object.ts";

const maxShown = 1024;

/**
 * Returns the response if it has the requested kind. The text of a confidential one, which may contain a
 * token, is not shown in errors.
 */
export function webhookResponse(
  text: string,
  wanted: { readonly kind: string; readonly apiVersion: string },
  confidential = false,
): { readonly status?: unknown } {
  if (text === "") throw new Error("0-length response");
  const value = parsed(text);
  const { kind, apiVersion } = headerOf(value, confidential ? redacted : text.slice(0, maxShown));
  const [given, requested] = [apiVersion, wanted.apiVersion].map(groupVersion) as [string[], string[]];
  if (
    kind === wanted.kind &&
    given[0] === requested[0] &&
    given[1] !== requested[1] &&
    reviewed.has(given[1]!)
  )
    throw new Error(`converting (${given[1]}.${kind}) to (${requested[1]}.${kind}): unknown conversion`);
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion)
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  return value ?? {};
}

/**
 * Versions of token and access reviews: a review in the wrong one of these is decodable, but cannot be
 * converted.
 */
const reviewed: ReadonlySet<string> = new Set(["v1", "v1beta1"]);
const groupVersion = (text: string): string[] => text.split("/", 2);

/** Like webhookResponse, but also checks the types of fields. */
export function webhookReview<M extends Message>(
  text: string,
  schema: M,
  wanted: { readonly kind: string; readonly apiVersion: string },
  confidential = false,
): TypeOf<M> {
  return fromJsonValue(schema, webhookResponse(text, wanted, confidential)).value;
}

/** Parses JSON, or YAML if it is not valid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (!/^\s*\{/.test(text)) return parseYaml(text).value;
  }
  try {
    return parseJson(text).value;
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
