// Caches the results of a token method, so that an expensive one is not called for every request.
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "#base";
import type { TokenMethod } from "./bearer-token.ts";
import type { TokenObserver } from "./service-account.ts";
import type { Identity } from "./user.ts";

export interface TokenCacheOptions {
  readonly clock: Clock;
  /** How long identities are cached. */
  readonly successMilliseconds: number;
  /** How long a token unknown to the method is cached. */
  readonly failureMilliseconds: number;
  readonly observer?: TokenObserver | undefined;
}

interface CachedResult {
  readonly identity: Identity | undefined;
  readonly until: number;
}

const maxCached = 32 * 1024;

/**
 * Caches the results of a method. Errors are never cached; concurrent requests with the same token share one
 * call.
 */
export function cachedTokens(method: TokenMethod, options: TokenCacheOptions): TokenMethod {
  const { clock, successMilliseconds, failureMilliseconds } = options;
  // Tokens themselves are not stored, only a hash keyed with a secret of this process.
  const secret = randomBytes(32);
  const cache = new Map<string, CachedResult>();
  const pending = new Map<string, Promise<Identity | undefined>>();
  const store = (id: string, identity: Identity | undefined): void => {
    const milliseconds = identity ? successMilliseconds : failureMilliseconds;
    if (milliseconds <= 0) return;
    cache.delete(id);
    cache.set(id, { identity, until: clock.monotonic() + milliseconds });
    if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
  };
  return {
    identify: (token, audiences) => {
      const id = createHash("sha256")
        .update(secret)
        .update(`${token.length}:${token}`)
        .update(audiences.map((audience) => `${audience.length}:${audience}`).join(""))
        .digest("base64");
      const known = cache.get(id);
      if (known && known.until > clock.monotonic()) {
        options.observer?.cached();
        return known.identity;
      }
      let request = pending.get(id);
      if (!request) {
        const ask = async (): Promise<Identity | undefined> => await method.identify(token, audiences);
        request = (options.observer ? options.observer.verify(ask) : ask())
          .then((identity) => {
            store(id, identity);
            return identity;
          })
          .finally(() => pending.delete(id));
        pending.set(id, request);
      }
      return request;
    },
  };
}
