// Compacts history periodically, keeping at least the last interval. Several servers on one store coordinate
// through a common key: the server that writes it compacts; the others record the new revision and try again
// an interval later.
//
//   server 1   writes key ---------- compacts to t1, writes key ---------- (dies)
//   server 2          lost, records t1'                  lost, records t2'       writes key, compacts to t2'

import type { Clock } from "#base";
import type { Revision, Store } from "./store.ts";

export interface CompactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly signal: AbortSignal;
  /** The key through which the servers coordinate; the default lies outside the prefix of all others. */
  readonly key?: string;
  /** Called when a round fails; the next round runs regardless. */
  readonly onError?: (error: unknown) => void;
}

/**
 * The state of one server: the revision of the common key it last saw, and the revision to compact to next.
 */
interface Turn {
  readonly seen: Revision | "absent";
  readonly through: Revision;
}

/** Compacts until aborted, then returns. An interval of zero disables compaction. */
export async function compactPeriodically({
  store,
  clock,
  intervalSeconds,
  signal,
  key = "compact_rev_key",
  onError,
}: CompactorOptions): Promise<void> {
  let turn: Turn = { seen: "absent", through: 0 };
  while (intervalSeconds > 0) {
    const slept = await clock.sleep(intervalSeconds * 1000, signal).then(
      () => true,
      () => false,
    );
    if (!slept || signal.aborted) return;
    try {
      const taken = await takeTurn(store, key, turn);
      const { through } = turn;
      turn = taken.next;
      // The first turn only records the current revision: older history must be kept for another interval.
      if (taken.isLeader && through > 0) await store.compact(through);
    } catch (error) {
      onError?.(error);
    }
  }
}

async function takeTurn(
  store: Store,
  key: string,
  { seen, through }: Turn,
): Promise<{ readonly isLeader: boolean; readonly next: Turn }> {
  const outcome = await store.write({ key, value: Buffer.from(String(through)), expect: seen });
  if (outcome.done) return { isLeader: true, next: { seen: outcome.revision, through: outcome.revision } };
  // progress() also sends a notification to idle watches, so that a later compaction by another server does
  // not leave them behind.
  return {
    isLeader: false,
    next: { seen: outcome.current?.revision ?? "absent", through: await store.progress() },
  };
}
