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

interface Kept {
  readonly identity: Identity | undefined;
  readonly until: number;
}

const mostKept = 32 * 1024;

/**
 * Caches the results of a method. Errors are never cached; concurrent requests with the same token share one
 * call.
 */
export function cachedTokens(method: TokenMethod, options: TokenCacheOptions): TokenMethod {
  const { clock, successMilliseconds, failureMilliseconds } = options;
  // Tokens themselves are not stored, only their HMAC with a secret of this process.
  const secret = randomBytes(32);
  const kept = new Map<string, Kept>();
  const asked = new Map<string, Promise<Identity | undefined>>();
  const keep = (id: string, identity: Identity | undefined): void => {
    const milliseconds = identity ? successMilliseconds : failureMilliseconds;
    if (milliseconds <= 0) return;
    kept.delete(id);
    kept.set(id, { identity, until: clock.now() + milliseconds });
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
  };
  return {
    identify: (token, audiences) => {
      const id = createHash("sha256")
        .update(secret)
        .update(`${token.length}:${token}`)
        .update(audiences.map((audience) => `${audience.length}:${audience}`).join(""))
        .digest("base64");
      const known = kept.get(id);
      if (known && known.until > clock.now()) {
        options.observer?.known();
        return known.identity;
      }
      let asking = asked.get(id);
      if (!asking) {
        const ask = async (): Promise<Identity | undefined> => await method.identify(token, audiences);
        asking = (options.observer ? options.observer.verify(ask) : ask())
          .then((identity) => {
            keep(id, identity);
            return identity;
          })
          .finally(() => asked.delete(id));
        asked.set(id, asking);
      }
      return asking;
    },
  };
}
