// Waiting longer after each failure: doubling from a first delay to a longest, and from the start again after
// a long calm.
import type { Clock } from "#base";

export interface BackOff {
  /** Milliseconds still to wait after something that happened then; 0 when the wait is over. */
  remaining(key: string, since: number): number;
  /** Milliseconds still to wait after the last failure noted. */
  remainingSinceNote(key: string): number;
  /** The current delay of a key. */
  delay(key: string): number;
  /** Notes one more failure, which happened then. */
  note(key: string, happenedAt: number): void;
  forget(keyStart: string): void;
}

export interface BackOffOptions {
  readonly clock: Clock;
  readonly firstMilliseconds: number;
  readonly longestMilliseconds: number;
}

interface Entry {
  delay: number;
  notedAt: number;
}

/** More keys than this are never held; the oldest go. */
const mostKeys = 10_000;

export function backOff({ clock, firstMilliseconds, longestMilliseconds }: BackOffOptions): BackOff {
  const entries = new Map<string, Entry>();
  const isCalm = (entry: Entry, at: number): boolean => at - entry.notedAt > 2 * longestMilliseconds;
  return {
    remaining: (key, since) => {
      const entry = entries.get(key);
      return !entry || isCalm(entry, since) ? 0 : Math.max(0, entry.delay - (clock.now() - since));
    },
    remainingSinceNote: (key) => {
      const entry = entries.get(key);
      return !entry || isCalm(entry, clock.now())
        ? 0
        : Math.max(0, entry.delay - (clock.now() - entry.notedAt));
    },
    delay: (key) => entries.get(key)?.delay ?? 0,
    note: (key, happenedAt) => {
      const entry = entries.get(key);
      const delay =
        !entry || isCalm(entry, happenedAt)
          ? firstMilliseconds
          : Math.min(entry.delay * 2, longestMilliseconds);
      entries.delete(key);
      entries.set(key, { delay, notedAt: clock.now() });
      if (entries.size > mostKeys) entries.delete(entries.keys().next().value!);
    },
    forget: (keyStart) => {
      for (const key of entries.keys()) if (key.startsWith(keyStart)) entries.delete(key);
    },
  };
}
