// Limits the rate of requests.
import type { Clock } from "#base";

/** A token bucket: resolves when the caller may proceed. */
export function rateLimiter(
  clock: Clock,
  perSecond: number,
  burst: number,
): (signal: AbortSignal) => Promise<void> {
  if (perSecond <= 0) return () => Promise.resolve();
  const capacity = Math.max(1, burst);
  let tokens = capacity;
  let at = clock.monotonic();
  return async (signal) => {
    const now = clock.monotonic();
    tokens = Math.min(capacity, tokens + ((now - at) * perSecond) / 1000) - 1;
    at = now;
    if (tokens < 0) await clock.sleep((-tokens * 1000) / perSecond, signal);
  };
}

/** A token bucket for callers that do not wait: reports whether the caller may proceed now. */
export function tokenBucket(
  clock: Pick<Clock, "monotonic">,
  perSecond: number,
  burst: number,
): () => boolean {
  let tokens = burst;
  let at = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1000);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
