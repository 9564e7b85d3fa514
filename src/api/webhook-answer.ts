// The answers of webhooks that review tokens, requests and images. What is wrong with one is said as
// kube-apiserver's decoders say it: reviews and refusals show it.
import { type Message, type TypeOf, fromJsonValue, parseJson, parseYaml } from "#schema";
import { headerOf, redacted } from "./config/config-object.ts";

const mostShown = 1024;

/** The answer, if it is of that kind. One that may repeat a token is not shown. */
export function webhookAnswer(
  text: string,
  wanted: { readonly kind: string; readonly apiVersion: string },
  confidential = false,
): { readonly status?: unknown } {
  if (text === "") throw new Error("0-length response");
  const value = parsed(text);
  const { kind, apiVersion } = headerOf(value, confidential ? redacted : text.slice(0, mostShown));
  const [given, asked] = [apiVersion, wanted.apiVersion].map(groupVersion) as [string[], string[]];
  if (kind === wanted.kind && given[0] === asked[0] && given[1] !== asked[1] && reviewed.has(given[1]!))
    throw new Error(`converting (${given[1]}.${kind}) to (${asked[1]}.${kind}): unknown conversion`);
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion)
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  return value ?? {};
}

/** The versions that reviews of tokens and requests have: what they say is known, and still not what was asked for. */
const reviewed: ReadonlySet<string> = new Set(["v1", "v1beta1"]);
const groupVersion = (text: string): string[] => text.split("/", 2);

/** The same with the types of its fields checked. */
export function webhookReview<M extends Message>(
  text: string,
  schema: M,
  wanted: { readonly kind: string; readonly apiVersion: string },
  confidential = false,
): TypeOf<M> {
  return fromJsonValue(schema, webhookAnswer(text, wanted, confidential)).value;
}

/** JSON, and what else is YAML. */
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
