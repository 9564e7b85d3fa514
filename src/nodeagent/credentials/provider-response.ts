// The response of a credential provider program, and the key under which it is cached.
import type { AuthConfig } from "#cri";
import { parseDuration } from "#base";
import { parseJson } from "#schema";
import type { RegistryAuths } from "./keyring.ts";

export interface ProviderResponse {
  readonly auths: RegistryAuths;
  readonly cacheKeyType: string;
  /** Undefined if the provider's default applies. */
  readonly cacheMilliseconds: number | undefined;
}

/** Parses a response. Throws unless it is complete and of the requested API version. */
export function parseResponse(stdout: string, apiVersion: string): ProviderResponse {
  let found: Record<string, unknown>;
  try {
    found = parseJson(stdout).value as typeof found;
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`error reading GVK from response: couldn't get version/kind; json parse error: ${why}`, {
      cause: error,
    });
  }
  if (found?.["apiVersion"] !== apiVersion)
    throw new Error(
      `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, ` +
        `actual apiVersion:${String(found?.["apiVersion"] ?? "")}`,
    );
  const { kind, cacheKeyType = "", cacheDuration } = found;
  const auth = found["auth"] ?? {};
  const isObject = typeof auth === "object" && !Array.isArray(auth);
  const isDuration =
    cacheDuration === undefined || cacheDuration === null || typeof cacheDuration === "string";
  if (kind !== "CredentialProviderResponse" || !isObject || !isDuration || typeof cacheKeyType !== "string")
    throw new Error("error decoding credential provider plugin response from stdout");
  return {
    auths: Object.entries(auth as Record<string, unknown>).map(([place, entry]) => [place, authOf(entry)]),
    cacheKeyType,
    cacheMilliseconds:
      typeof cacheDuration === "string" ? Number(parseDuration(cacheDuration)) / 1e6 : undefined,
  };
}

function authOf(entry: unknown): AuthConfig {
  const { username = "", password = "" } = (entry ?? {}) as { username?: unknown; password?: unknown };
  if (typeof username !== "string" || typeof password !== "string")
    throw new Error("error decoding credential provider plugin response from stdout");
  return { username, password };
}

/** Returns the key under which a response is cached for an image; undefined for an unknown key type. */
export function cacheKeyOf(cacheKeyType: string, image: string): string | undefined {
  if (cacheKeyType === "Image") return image;
  if (cacheKeyType === "Registry") return registryOf(image);
  return cacheKeyType === "Global" ? "global" : undefined;
}

/** Returns every key under which credentials for an image may be cached, the most specific first. */
export const cacheKeysOf = (image: string): readonly string[] => [image, registryOf(image), "global"];

const registryOf = (image: string): string => image.split("/")[0]!;
