// Assigns leases to writes with a TTL. Granting a lease is expensive, so keys written shortly after each
// other share a lease that lives slightly longer than the first of them requested.
//
//   write ttl 3600 at 0 s     grants 3660 s            (60 s to spare)
//   write ttl 3600 at 59 s    shares it                (it ends 1 s later than requested)
//   write ttl 3600 at 61 s    grants the next          (the old one would end too early)

import type { Clock } from "#base";

export interface LeaseReuse<Id> {
  readonly clock: Clock;
  /** A lease is reused for at most this long, and never longer than a twentieth of the requested TTL. */
  readonly reuseSeconds: number;
  /** Maximum number of keys attached to one lease. */
  readonly maxKeysPerLease: number;
  /** Requests a lease with this TTL from the store. */
  readonly grant: (ttlSeconds: number) => Promise<Id>;
  /** Called with the number of keys on a lease when a new one replaces it. */
  readonly replaced?: ((keys: number) => void) | undefined;
}

const reuseShare = 0.05;
const maxTtls = 16;

/**
 * Returns a function that finds the lease for a write. Calls are serialized, so that a burst grants a single
 * lease.
 */
export function leaseReuse<Id>({
  clock,
  reuseSeconds,
  maxKeysPerLease,
  grant,
  replaced,
}: LeaseReuse<Id>): (ttlSeconds: number) => Promise<Id> {
  /** The newest lease per requested TTL: some writes ask for an hour, others for half a minute. */
  const newest = new Map<number, { readonly id: Id; readonly endsAt: number; keys: number }>();
  let turn: Promise<unknown> = Promise.resolve();

  const find = async (ttlSeconds: number): Promise<Id> => {
    const spare = Math.min(reuseSeconds, Math.floor(ttlSeconds * reuseShare));
    const now = clock.monotonic();
    const requiredUntil = now + ttlSeconds * 1000;
    const last = newest.get(ttlSeconds);
    const fits = last && requiredUntil < last.endsAt && requiredUntil + spare * 1000 >= last.endsAt;
    if (last && fits && last.keys < maxKeysPerLease) {
      last.keys++;
      return last.id;
    }
    const granted = ttlSeconds + spare;
    const id = await grant(granted);
    // Counted from before the request: the lease can only end later than assumed.
    if (last) replaced?.(last.keys);
    newest.delete(ttlSeconds);
    newest.set(ttlSeconds, { id, endsAt: now + granted * 1000, keys: 1 });
    if (newest.size > maxTtls) newest.delete(newest.keys().next().value!);
    return id;
  };

  return (ttlSeconds) => {
    const lease = turn.then(() => find(ttlSeconds));
    turn = lease.catch(() => undefined);
    return lease;
  };
}
