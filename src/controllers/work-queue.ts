// Keys to look at, each once: what comes while a key waits is part of the same look, what comes while it is
// looked at means another one.
import { ApiError, type Clock } from "#base";

export interface WorkQueueOptions {
  /** Looks at what the key stands for and does what is missing. Says when to look again, if it knows. */
  readonly work: (key: string) => Promise<{ readonly againInMilliseconds: number } | void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly workers?: number;
  /** Told of every failure; the key is tried again later, each time after a longer pause. */
  readonly onTrouble?: (key: string, error: Error) => void;
}

export interface WorkQueue {
  add(key: string): void;
  /** Not before so many milliseconds; the soonest of several wins. */
  addAfter(key: string, milliseconds: number): void;
  /** Keys that wait to be looked at now. */
  readonly waiting: number;
  /** Resolves when nothing is under way any more, after the signal. */
  readonly stopped: Promise<void>;
}

const firstPause = 100;
const longestPause = 30_000;
const usualWorkers = 4;

export function workQueue({
  work,
  clock,
  signal,
  workers = usualWorkers,
  onTrouble,
}: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const active = new Set<string>();
  const later = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const failures = new Map<string, number>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const end = (): void => {
    for (const { cancel } of later.values()) cancel();
    later.clear();
    waiting.clear();
    if (active.size === 0) stop();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();

  function add(key: string): void {
    if (signal.aborted) return;
    later.get(key)?.cancel();
    later.delete(key);
    waiting.add(key);
    next();
  }

  function addAfter(key: string, milliseconds: number): void {
    const at = clock.now() + milliseconds;
    const planned = later.get(key);
    if (signal.aborted || waiting.has(key) || (planned && planned.at <= at)) return;
    planned?.cancel();
    later.set(key, { at, cancel: clock.after(milliseconds, () => add(key)) });
  }

  function next(): void {
    for (const key of waiting) {
      if (active.size >= workers) return;
      // It is put back by whoever is at it.
      if (active.has(key)) continue;
      waiting.delete(key);
      active.add(key);
      void look(key);
    }
  }

  async function look(key: string): Promise<void> {
    try {
      const answer = await work(key);
      failures.delete(key);
      if (answer) addAfter(key, answer.againInMilliseconds);
    } catch (error) {
      if (!signal.aborted) retry(key, error as Error);
    } finally {
      active.delete(key);
      if (!signal.aborted) next();
      else if (active.size === 0) stop();
    }
  }

  function retry(key: string, error: Error): void {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    // A lost race is the ordinary course of things.
    if (!(error instanceof ApiError && error.reason === "Conflict")) onTrouble?.(key, error);
    const asked = error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;
    addAfter(key, Math.max(asked, Math.min(longestPause, firstPause * 2 ** Math.min(count - 1, 20))));
  }

  return {
    add,
    addAfter,
    stopped,
    get waiting() {
      return waiting.size;
    },
  };
}
