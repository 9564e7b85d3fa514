// A work queue of unique keys. A key added while it is pending stays queued once; a key added while it is
// being processed is processed again afterwards. Failures are retried with exponential backoff per key.
import { ApiError, type Clock, type OneQueueMetrics } from "#base";

export interface WorkQueueOptions {
  /** Reconciles the object behind the key; may return a delay after which to requeue the key. */
  readonly work: (key: string) => Promise<{ readonly requeueAfterMilliseconds: number } | void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly workers?: number;
  readonly baseDelayMilliseconds?: number;
  readonly maxDelayMilliseconds?: number;
  /** Called for every failure except conflicts; the key is retried in either case. */
  readonly onFailure?: (key: string, error: Error) => void;
  readonly metrics?: OneQueueMetrics;
}

export interface WorkQueue {
  add(key: string): void;
  /** Adds the key after a delay; the earliest of several pending delays wins. */
  addAfter(key: string, milliseconds: number): void;
  /** Adds the key after its backoff, as if processing had failed. */
  addRateLimited(key: string): void;
  forget(key: string): void;
  /** Number of consecutive failures of the key. */
  failures(key: string): number;
  /** Number of keys that are ready to be processed. */
  readonly waiting: number;
  /** Resolves when no key is being processed any more, after the signal aborted. */
  readonly stopped: Promise<void>;
}

const defaultBaseDelay = 5;
const defaultMaxDelay = 1_000_000;
const defaultWorkers = 5;

export function workQueue({
  work,
  clock,
  signal,
  workers = defaultWorkers,
  baseDelayMilliseconds: baseDelay = defaultBaseDelay,
  maxDelayMilliseconds: maxDelay = defaultMaxDelay,
  onFailure,
  metrics,
}: WorkQueueOptions): WorkQueue {
  /** The time at which each pending key was added, in insertion order. */
  const waiting = new Map<string, number>();
  const active = new Set<string>();
  const delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const failures = new Map<string, number>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const end = (): void => {
    for (const { cancel } of delayed.values()) cancel();
    delayed.clear();
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
    const scheduled = delayed.get(key);
    if (signal.aborted || (scheduled && scheduled.at <= at)) return;
    scheduled?.cancel();
    const due = (): void => {
      delayed.delete(key);
      add(key);
    };
    // Timers are limited to 2^31 - 1 milliseconds; a longer delay is re-evaluated when the timer fires.
    delayed.set(key, { at, cancel: clock.after(Math.min(milliseconds, 2 ** 31 - 1), due) });
  }

  function next(): void {
    for (const [key, since] of waiting) {
      if (active.size >= workers) return;
      // The active worker picks the key up again when it is done.
      if (active.has(key)) continue;
      waiting.delete(key);
      active.add(key);
      void run(key, metrics?.started((clock.now() - since) / 1000, waiting.size));
    }
  }

  async function run(key: string, done: (() => void) | undefined): Promise<void> {
    try {
      const result = await work(key);
      failures.delete(key);
      if (result) addAfter(key, result.requeueAfterMilliseconds);
    } catch (error) {
      if (!signal.aborted) retry(key, error as Error);
    } finally {
      done?.();
      active.delete(key);
      if (!signal.aborted) next();
      else if (active.size === 0) stop();
    }
  }

  function nextBackoff(key: string): number {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    metrics?.retried();
    return Math.min(maxDelay, baseDelay * 2 ** Math.min(count - 1, 30));
  }

  function retry(key: string, error: Error): void {
    // Conflicts are expected and are not reported.
    if (!(error instanceof ApiError && error.reason === "Conflict")) onFailure?.(key, error);
    const requested = error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;
    addAfter(key, Math.max(requested, nextBackoff(key)));
  }

  return {
    add,
    addAfter,
    addRateLimited: (key) => addAfter(key, nextBackoff(key)),
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
    stopped,
    get waiting() {
      return waiting.size;
    },
  };
}
