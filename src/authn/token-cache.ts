// Keeps what a method of authentication said about a token for a while, so that an expensive one is not asked
// for every request.
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "#base";
import type { TokenMethod } from "./bearer-token.ts";
import type { TokenObserver } from "./service-account.ts";
import type { Identity } from "./user.ts";

export interface TokenCacheOptions {
  readonly clock: Clock;
  /** How long identities are kept. */
  readonly successMilliseconds: number;
  /** How long it is kept that the method does not know a token. */
  readonly failureMilliseconds: number;
  readonly observer?: TokenObserver | undefined;
}

interface Kept {
  readonly identity: Identity | undefined;
  readonly until: number;
}

const mostKept = 32 * 1024;

/** Errors are never kept. Requests that carry the same token at a time share one question. */
export function cachedTokens(method: TokenMethod, options: TokenCacheOptions): TokenMethod {
  const { clock, successMilliseconds, failureMilliseconds } = options;
  // Tokens are not kept: only what a secret of this process makes of them.
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
