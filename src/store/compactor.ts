// Forgets old history at an interval, keeping at least the last interval's. Several servers on one store take
// turns: whoever manages to write the common key compacts; the others note the new revision and try again an
// interval later.
//
//   server 1   writes key ---------- compacts to t1, writes key ---------- (dies)
//   server 2          lost, notes t1'                    lost, notes t2'          writes key, compacts to t2'

import type { Clock } from "#base";
import type { Revision, Store } from "./store.ts";

export interface CompactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly signal: AbortSignal;
  /** The key the servers take turns with; the customary one lies beside all others. */
  readonly key?: string;
  /** Told of a round that failed; the next one comes all the same. */
  readonly onError?: (error: unknown) => void;
}

/** Where one server stands: the common key as it last saw it, and the revision to compact to next. */
interface Turn {
  readonly seen: Revision | "absent";
  readonly through: Revision;
}

/** Compacts until aborted, and then simply returns. An interval of zero means never. */
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
      // The first turn only notes where we are: what came before it may be needed for an interval still.
      if (taken.mine && through > 0) await store.compact(through);
    } catch (error) {
      onError?.(error);
    }
  }
}

async function takeTurn(
  store: Store,
  key: string,
  { seen, through }: Turn,
): Promise<{ readonly mine: boolean; readonly next: Turn }> {
  const outcome = await store.write({ key, value: Buffer.from(String(through)), expect: seen });
  if (outcome.done) return { mine: true, next: { seen: outcome.revision, through: outcome.revision } };
  // Asked this way, quiet watches get a mark, too, so that what others compact in turns to come does not
  // leave them behind.
  return {
    mine: false,
    next: { seen: outcome.current?.revision ?? "absent", through: await store.progress() },
  };
}
