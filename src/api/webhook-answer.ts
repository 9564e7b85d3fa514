// The answers of webhooks that review tokens, requests and images. What is wrong with one is said as
// kube-apiserver's decoders say it: reviews and refusals show it.
import { parseYaml } from "#schema";
import { headerOf } from "./config/config-object.ts";

/** The answer, if it is of that kind. */
export function webhookAnswer(
  text: string,
  wanted: { readonly kind: string; readonly apiVersion: string },
): { readonly status?: unknown } {
  const value = parsed(text);
  const { kind, apiVersion } = headerOf(value, text);
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
