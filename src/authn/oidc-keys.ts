// The keys of an identity provider, located by its discovery document and fetched again when a token names an
// unknown key, at most every second.
import type { Clock } from "#base";
import { parseJson } from "#schema";
import { DocumentRefused } from "./fetch-document.ts";

export interface JsonWebKeyEntry {
  readonly kid?: string;
  readonly kty: string;
  readonly use?: string;
  readonly alg?: string;
  readonly [field: string]: unknown;
}

export interface ProviderKeys {
  /** Returns the keys with this id; without an id, all of them. Throws if none are known. */
  candidates(kid: string | undefined): Promise<readonly JsonWebKeyEntry[]>;
  /**
   * Returns the candidates after a refresh without those that were tried: keys may have been replaced under the
   * same id. Empty if they are unchanged.
   */
  newCandidates(
    kid: string | undefined,
    tried: readonly JsonWebKeyEntry[],
  ): Promise<readonly JsonWebKeyEntry[]>;
}

export interface ProviderKeysOptions {
  readonly issuer: string;
  /** The URL of the discovery document, if it is not below the issuer's URL. */
  readonly discoveryUrl?: string | undefined;
  readonly clock: Clock;
  /** Fetches a document. */
  readonly fetch: (url: string) => Promise<string>;
}

const pauseMilliseconds = 1_000;

/** The issuer's discovery document has not been fetched yet. */
export class NotInitialized extends Error {}

export function providerKeys({ issuer, discoveryUrl, clock, fetch }: ProviderKeysOptions): ProviderKeys {
  let keys: readonly JsonWebKeyEntry[] | undefined;
  let address: string | undefined;
  let fetching: Promise<void> | undefined;
  let nextFetch = -Infinity;
  let failure: Error | undefined;

  const load = async (): Promise<void> => {
    address ??= await discovered(issuer, discoveryUrl, fetch);
    keys = await fetchedKeys(address, fetch);
  };
  const refresh = (): Promise<void> => {
    if (clock.monotonic() < nextFetch) return Promise.resolve();
    return (fetching ??= load()
      .then(
        () => (failure = undefined),
        (error: Error) => void (failure = error),
      )
      .then(() => {
        nextFetch = clock.monotonic() + pauseMilliseconds;
      })
      .finally(() => (fetching = undefined)));
  };
  const matching = (kid: string | undefined): readonly JsonWebKeyEntry[] =>
    (keys ?? []).filter((key) => kid === undefined || key.kid === kid);
  return {
    candidates: async (kid) => {
      let found = matching(kid);
      if (found.length === 0) {
        await refresh();
        found = matching(kid);
      }
      if (found.length > 0) return found;
      if (address === undefined)
        throw new NotInitialized("authenticator not initialized", { cause: failure });
      throw new Error(
        `failed to verify signature: ${failure ? `fetching keys ${failure.message}` : "failed to verify id token signature"}`,
      );
    },
    newCandidates: async (kid, tried) => {
      const before = new Set(tried.map((key) => JSON.stringify(key)));
      await refresh();
      return matching(kid).filter((key) => !before.has(JSON.stringify(key)));
    },
  };
}

async function fetchedKeys(
  address: string,
  fetch: (url: string) => Promise<string>,
): Promise<readonly JsonWebKeyEntry[]> {
  let text: string;
  try {
    text = await fetch(address);
  } catch (error) {
    const { message } = error as Error;
    const detail = error instanceof DocumentRefused ? `: ${message.replace(":", "")}` : ` ${message}`;
    throw new Error(`oidc: get keys failed${detail}`, { cause: error });
  }
  const { keys = [] } = documentOf(
    text,
    "oidc: failed to decode keys",
    ` ${text.slice(0, maxErrorCharacters)}`,
  ) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error(`oidc: failed to decode keys: ${address} holds no keys`);
  return keys.filter(isKey);
}

/** Maximum number of characters of an invalid document that are reported. */
const maxErrorCharacters = 1000;

function documentOf(text: string, failing: string, detail = ""): object {
  try {
    return parseJson(text).value ?? {};
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `${failing}: got Content-Type = application/json, but could not unmarshal as JSON: ${message}${detail}`,
      { cause: error },
    );
  }
}

const isKey = (key: unknown): key is JsonWebKeyEntry =>
  typeof key === "object" &&
  key !== null &&
  typeof (key as JsonWebKeyEntry).kty === "string" &&
  ((key as JsonWebKeyEntry).use ?? "sig") === "sig";

async function discovered(
  issuer: string,
  discoveryUrl: string | undefined,
  fetch: (url: string) => Promise<string>,
): Promise<string> {
  const url = discoveryUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const found = documentOf(await fetch(url), "oidc: failed to decode provider discovery object");
  const { issuer: foundIssuer = "", jwks_uri: address } = found as { issuer?: unknown; jwks_uri?: unknown };
  if (foundIssuer !== issuer)
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuer)} got ${JSON.stringify(foundIssuer)}`,
    );
  if (typeof address !== "string" || !/^https?:\/\//.test(address))
    throw new Error(`${url} names no jwks_uri`);
  return address;
}
