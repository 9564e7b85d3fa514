// Image credentials from provider programs. Runs the providers whose patterns match the image, and caches
// their responses as long as they allow. A provider that fails contributes no credentials.
import { LRUCache } from "lru-cache";
import type { Clock, Log } from "#base";
import { imageMatches } from "./image-pattern.ts";
import type { RegistryAuths } from "./keyring.ts";
import { cacheKeyOf, cacheKeysOf, parseResponse } from "./provider-response.ts";

export interface CredentialProvider {
  readonly name: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMilliseconds: number;
  readonly apiVersion: string;
  /** Runs the program with this input and returns its output. */
  run(input: string, signal: AbortSignal): Promise<string>;
}

export interface CredentialProvidersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly providers: readonly CredentialProvider[];
  /** Called after every run of a program; `isGood` if the program did not fail. */
  readonly onRun?: (provider: string, milliseconds: number, isGood: boolean) => void;
}

export interface CredentialProviders {
  /**
   * Runs the providers in the order of their names; returns one set per provider. `image` has no tag or
   * digest.
   */
  credentials(image: string, signal: AbortSignal): Promise<readonly RegistryAuths[]>;
}

interface CachedResponse {
  readonly auths: RegistryAuths;
  /** Time of the monotonic clock. */
  readonly until: number;
}

const maxCachedResponses = 1000;

export function credentialProviders(options: CredentialProvidersOptions): CredentialProviders {
  const lookups = options.providers
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((provider) => cachedLookup(provider, options));
  return {
    credentials: async (image, signal) => {
      const sets: RegistryAuths[] = [];
      for (const lookUp of lookups) sets.push(await lookUp(image, signal));
      return sets;
    },
  };
}

type CredentialLookup = (image: string, signal: AbortSignal) => Promise<RegistryAuths>;

function cachedLookup(
  provider: CredentialProvider,
  { clock, log, onRun }: CredentialProvidersOptions,
): CredentialLookup {
  const responses = new LRUCache<string, CachedResponse>({ max: maxCachedResponses });
  const running = new Map<string, { readonly auths: Promise<RegistryAuths>; readonly signal: AbortSignal }>();
  return async function lookUp(image, signal): Promise<RegistryAuths> {
    if (!provider.matchImages.some((pattern) => imageMatches(pattern, image))) return [];
    for (const key of cacheKeysOf(image)) {
      const found = responses.get(key);
      if (found && clock.monotonic() < found.until) return found.auths;
    }
    // Concurrent pulls of the same image share one run.
    const pending = running.get(image);
    if (pending) {
      const auths = await pending.auths;
      // The run ended early if its pod was deleted.
      return pending.signal.aborted && !signal.aborted ? await lookUp(image, signal) : auths;
    }
    const auths = runProvider(image, signal).finally(() => running.delete(image));
    running.set(image, { auths, signal });
    return await auths;
  };

  async function runProvider(image: string, signal: AbortSignal): Promise<RegistryAuths> {
    try {
      const request = { kind: "CredentialProviderRequest", apiVersion: provider.apiVersion, image };
      const output = await runMeasured(`${JSON.stringify(request)}\n`, signal);
      const { auths, cacheKeyType, cacheMilliseconds } = parseResponse(output, provider.apiVersion);
      const key = cacheKeyOf(cacheKeyType, image);
      if (key === undefined) throw new Error(`unknown cacheKeyType ${JSON.stringify(cacheKeyType)}`);
      const milliseconds = cacheMilliseconds ?? provider.defaultCacheMilliseconds;
      if (milliseconds !== 0) responses.set(key, { auths, until: clock.monotonic() + milliseconds });
      return auths;
    } catch (error) {
      log.error("credential provider failed", {
        provider: provider.name,
        image,
        error: (error as Error).message,
      });
      return [];
    }
  }

  /** Runs the program. A run counts as good if the program exits successfully, regardless of its output. */
  async function runMeasured(input: string, signal: AbortSignal): Promise<string> {
    const startedAt = clock.monotonic();
    let isGood = false;
    try {
      const output = await provider.run(input, signal);
      isGood = true;
      return output;
    } finally {
      onRun?.(provider.name, clock.monotonic() - startedAt, isGood);
    }
  }
}
