// A queue of keys, each at most once: a key that is added while it waits stays one, a key that is added while
// it is worked on is worked on again. Failures are retried with exponential back-off per key.
import { ApiError, type Clock, type OneQueueMetrics } from "#base";

export interface WorkQueueOptions {
  /** Brings what the key stands for to its desired state; may say when to work on the key again. */
  readonly work: (key: string) => Promise<{ readonly againInMilliseconds: number } | void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly workers?: number;
  readonly firstPauseMilliseconds?: number;
  readonly longestPauseMilliseconds?: number;
  /** Told of every failure but lost races; the key is retried in any case. */
  readonly onFailure?: (key: string, error: Error) => void;
  readonly metrics?: OneQueueMetrics;
}

export interface WorkQueue {
  add(key: string): void;
  /** Not before so many milliseconds; the soonest of several wins. */
  addAfter(key: string, milliseconds: number): void;
  /** After the key's back-off, as if its work had failed. */
  addRateLimited(key: string): void;
  forget(key: string): void;
  /** How often the key failed in a row. */
  failures(key: string): number;
  /** Keys that wait to be worked on now. */
  readonly waiting: number;
  /** Resolves when nothing is under way any more, after the signal. */
  readonly stopped: Promise<void>;
}

const defaultFirstPause = 5;
const defaultLongestPause = 1_000_000;
const defaultWorkers = 5;

export function workQueue({
  work,
  clock,
  signal,
  workers = defaultWorkers,
  firstPauseMilliseconds: firstPause = defaultFirstPause,
  longestPauseMilliseconds: longestPause = defaultLongestPause,
  onFailure,
  metrics,
}: WorkQueueOptions): WorkQueue {
  /** When each waiting key was added, in order. */
  const waiting = new Map<string, number>();
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
    if (!waiting.has(key)) {
      waiting.set(key, clock.now());
      metrics?.added();
    }
    next();
  }

  function addAfter(key: string, milliseconds: number): void {
    if (milliseconds <= 0) return add(key);
    const at = clock.now() + milliseconds;
    const planned = later.get(key);
    if (signal.aborted || (planned && planned.at <= at)) return;
    planned?.cancel();
    const due = (): void => {
      later.delete(key);
      add(key);
    };
    // A timer holds at most 2^31 - 1 milliseconds; what is further off is looked at again on the way.
    later.set(key, { at, cancel: clock.after(Math.min(milliseconds, 2 ** 31 - 1), due) });
  }

  function next(): void {
    for (const [key, since] of waiting) {
      if (active.size >= workers) return;
      // It is started again by whoever is at it.
      if (active.has(key)) continue;
      waiting.delete(key);
      active.add(key);
      void run(key, metrics?.started((clock.now() - since) / 1000, waiting.size));
    }
  }

  async function run(key: string, ended: (() => void) | undefined): Promise<void> {
    try {
      const answer = await work(key);
      failures.delete(key);
      if (answer) addAfter(key, answer.againInMilliseconds);
    } catch (error) {
      if (!signal.aborted) retry(key, error as Error);
    } finally {
      ended?.();
      active.delete(key);
      if (!signal.aborted) next();
      else if (active.size === 0) stop();
    }
  }

  function backOff(key: string): number {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    metrics?.retried();
    return Math.min(longestPause, firstPause * 2 ** Math.min(count - 1, 30));
  }

  function retry(key: string, error: Error): void {
    // A lost race is the ordinary course of things.
    if (!(error instanceof ApiError && error.reason === "Conflict")) onFailure?.(key, error);
    const asked = error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;
    addAfter(key, Math.max(asked, backOff(key)));
  }

  return {
    add,
    addAfter,
    addRateLimited: (key) => addAfter(key, backOff(key)),
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
    stopped,
    get waiting() {
      return waiting.size;
    },
  };
}
