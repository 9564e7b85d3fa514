// Which lease a write with a time to live gets. Granting a lease is dear, so keys written shortly after each
// other share one that lives a little longer than the first of them asked for.
//
//   write ttl 3600 at 0 s     grants 3660 s            (60 s to spare)
//   write ttl 3600 at 59 s    shares it                (it ends 1 s later than asked)
//   write ttl 3600 at 61 s    grants the next          (the old one would end too early)

import type { Clock } from "#base";

export interface LeaseReuse<Id> {
  readonly clock: Clock;
  /** A lease is given out for at most this long; also never longer than a twentieth of the time asked for. */
  readonly reuseSeconds: number;
  /** How many writes may share one lease. */
  readonly maxKeysPerLease: number;
  /** Asks the store for a lease that lives this long. */
  readonly grant: (ttlSeconds: number) => Promise<Id>;
  /** Told how many writes shared a lease when the next one takes its place. */
  readonly replaced?: ((keys: number) => void) | undefined;
}

const reuseShare = 0.05;
const mostTimes = 16;

/**
 * Gives a function that finds the lease for a write. Calls wait for each other, so that a burst grants one
 * lease.
 */
export function leaseReuse<Id>({
  clock,
  reuseSeconds,
  maxKeysPerLease,
  grant,
  replaced,
}: LeaseReuse<Id>): (ttlSeconds: number) => Promise<Id> {
  /** The newest lease for each time asked for: some write for an hour, others for half a minute. */
  const newest = new Map<number, { readonly id: Id; readonly endsAt: number; keys: number }>();
  let turn: Promise<unknown> = Promise.resolve();

  const find = async (ttlSeconds: number): Promise<Id> => {
    const spare = Math.min(reuseSeconds, Math.floor(ttlSeconds * reuseShare));
    const now = clock.now();
    const wanted = now + ttlSeconds * 1000;
    const last = newest.get(ttlSeconds);
    const fits = last && wanted < last.endsAt && wanted + spare * 1000 >= last.endsAt;
    if (last && fits && last.keys < maxKeysPerLease) {
      last.keys++;
      return last.id;
    }
    const granted = ttlSeconds + spare;
    const id = await grant(granted);
    // Counted from before the asking: the lease can only end later than we believe.
    if (last) replaced?.(last.keys);
    newest.delete(ttlSeconds);
    newest.set(ttlSeconds, { id, endsAt: now + granted * 1000, keys: 1 });
    if (newest.size > mostTimes) newest.delete(newest.keys().next().value!);
    return id;
  };

  return (ttlSeconds) => {
    const mine = turn.then(() => find(ttlSeconds));
    turn = mine.catch(() => undefined);
    return mine;
  };
}
