// The answers of webhooks that review tokens, requests and images. What is wrong with one is said as
// kube-apiserver's decoders say it: reviews and refusals show it.
import { parseYaml } from "#schema";
import { headerOf, redacted } from "./config/config-object.ts";

const mostShown = 1024;

/** The answer, if it is of that kind. One that may repeat a token is not shown. */
export function webhookAnswer(
  text: string,
  wanted: { readonly kind: string; readonly apiVersion: string },
  confidential = false,
): { readonly status?: unknown } {
  const value = parsed(text);
  const { kind, apiVersion } = headerOf(value, confidential ? redacted : text.slice(0, mostShown));
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion)
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  return value as { readonly status?: unknown };
}

/** JSON, and what else is YAML. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return parseYaml(text).value;
  }
}
