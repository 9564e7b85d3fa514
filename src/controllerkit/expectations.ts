// What a controller has asked for and not yet seen in its informer: until then its view of its own objects is
// out of date, and it must neither create nor delete more.
import type { Clock } from "#base";

export interface Expectations {
  /** Sets what is expected for a key; earlier expectations are replaced. */
  expectCreations(key: string, count: number): void;
  expectDeletions(key: string, uids: readonly string[]): void;
  expect(key: string, creations: number, deletedUids: readonly string[]): void;
  creationObserved(key: string): void;
  /** Seen to be deleting, or gone; the same uid counts once. */
  deletionObserved(key: string, uid: string): void;
  /** Whether everything was seen, or so long ago asked for that it will not come. */
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
      void byKey.set(key, { creations: count, deletions: new Set(), since: clock.now() }),
    expectDeletions: (key, uids) =>
      void byKey.set(key, { creations: 0, deletions: new Set(uids), since: clock.now() }),
    expect: (key, creations, uids) =>
      void byKey.set(key, { creations, deletions: new Set(uids), since: clock.now() }),
    creationObserved: (key) => {
      const expected = byKey.get(key);
      if (expected) expected.creations--;
    },
    deletionObserved: (key, uid) => void byKey.get(key)?.deletions.delete(uid),
    satisfied: (key) => {
      const expected = byKey.get(key);
      if (!expected) return true;
      const { creations, deletions, since } = expected;
      return (creations <= 0 && deletions.size === 0) || clock.now() - since > expiryMilliseconds;
    },
    forget: (key) => void byKey.delete(key),
  };
}
