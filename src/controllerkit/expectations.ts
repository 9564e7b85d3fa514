// Creations and deletions that a controller has requested and not yet observed through its informer. Until
// they are, the cache is stale and the controller must neither create nor delete more objects.
import type { Clock } from "#base";

export interface Expectations {
  /** Sets the expectations of a key, replacing earlier ones. */
  expectCreations(key: string, count: number): void;
  expectDeletions(key: string, uids: readonly string[]): void;
  expect(key: string, creations: number, deletedUids: readonly string[]): void;
  creationObserved(key: string): void;
  /** Observes that an object is being or has been deleted; repeated observations of a uid count once. */
  deletionObserved(key: string, uid: string): void;
  /** Reports whether all expectations were observed or have expired. */
  satisfied(key: string): boolean;
  forget(key: string): void;
}

interface Expected {
  creations: number;
  readonly deletions: Set<string>;
  readonly since: number;
}

const expiryMilliseconds = 5 * 60_000;

export function expectations(clock: Clock): Expectations {
  const byKey = new Map<string, Expected>();
  return {
    expectCreations: (key, count) =>
      void byKey.set(key, { creations: count, deletions: new Set(), since: clock.monotonic() }),
    expectDeletions: (key, uids) =>
      void byKey.set(key, { creations: 0, deletions: new Set(uids), since: clock.monotonic() }),
    expect: (key, creations, uids) =>
      void byKey.set(key, { creations, deletions: new Set(uids), since: clock.monotonic() }),
    creationObserved: (key) => {
      const expected = byKey.get(key);
      if (expected) expected.creations--;
    },
    deletionObserved: (key, uid) => void byKey.get(key)?.deletions.delete(uid),
    satisfied: (key) => {
      const expected = byKey.get(key);
      if (!expected) return true;
      const { creations, deletions, since } = expected;
      return (creations <= 0 && deletions.size === 0) || clock.monotonic() - since > expiryMilliseconds;
    },
    forget: (key) => void byKey.delete(key),
  };
}
