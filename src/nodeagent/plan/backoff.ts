// Exponential backoff per key: the delay doubles from an initial to a maximum value, and resets after a long
// period without failures.
import type { Clock } from "#base";

export interface BackOff {
  /** Milliseconds still to wait, counted from the given time; 0 when the backoff has expired. */
  remaining(key: string, since: number): number;
  /** Milliseconds still to wait since the last recorded failure. */
  remainingSinceFailure(key: string): number;
  /** Returns the current delay of a key. */
  delay(key: string): number;
  /** Records a failure that happened at the given time. */
  record(key: string, happenedAt: number): void;
  forget(keyStart: string): void;
}

export interface BackOffOptions {
  readonly clock: Clock;
  readonly firstMilliseconds: number;
  readonly longestMilliseconds: number;
}

interface Entry {
  readonly delay: number;
  readonly recordedAt: number;
  /** The same moment by the monotonic clock. */
  readonly recordedMonotonic: number;
}

/** Maximum number of keys; the oldest are dropped. */
const maxKeys = 10_000;

export function backOff({ clock, firstMilliseconds, longestMilliseconds }: BackOffOptions): BackOff {
  const entries = new Map<string, Entry>();
  const isCalm = (entry: Entry, at: number): boolean => at - entry.recordedAt > 2 * longestMilliseconds;
  const sinceRecord = ({ recordedMonotonic }: Entry): number => clock.monotonic() - recordedMonotonic;
  return {
    remaining: (key, since) => {
      const entry = entries.get(key);
      if (!entry || isCalm(entry, since)) return 0;
      const elapsed = clock.now() - since;
      // A time in the future is from before the machine's clock was set back.
      return Math.max(0, entry.delay - (elapsed < 0 ? sinceRecord(entry) : elapsed));
    },
    remainingSinceFailure: (key) => {
      const entry = entries.get(key);
      return entry ? Math.max(0, entry.delay - sinceRecord(entry)) : 0;
    },
    delay: (key) => entries.get(key)?.delay ?? 0,
    record: (key, happenedAt) => {
      const entry = entries.get(key);
      const delay =
        !entry || isCalm(entry, happenedAt)
          ? firstMilliseconds
          : Math.min(entry.delay * 2, longestMilliseconds);
      entries.delete(key);
      entries.set(key, { delay, recordedAt: clock.now(), recordedMonotonic: clock.monotonic() });
      if (entries.size > maxKeys) entries.delete(entries.keys().next().value!);
    },
    forget: (keyStart) => {
      for (const key of entries.keys()) if (key.startsWith(keyStart)) entries.delete(key);
    },
  };
}
