// Post-start hooks: work that is done at start and then repeated, periodically and whenever a watched
// resource changes. Each is a health check, too: it fails until the work has succeeded once, and after the
// hook has stopped unexpectedly.
import { type Clock, selectEverything } from "#base";
import type { Resource } from "#registry";
import type { CachedObject } from "#watchcache";
import type { HealthCheck } from "../health/health.ts";
import { storeErrorToStatus } from "#filters";
import { DecryptionFailed } from "#store";
import type { MeasuredWork } from "../metrics/work-metrics.ts";

export interface PostStartHookOptions {
  /** Name of the health check. */
  readonly name: string;
  /** Undefined for work that is done only once. */
  readonly everyMilliseconds?: number | undefined;
  reconcile(): Promise<void>;
  /** Optional work does not delay readiness when the store is unavailable at start. */
  readonly optional?: boolean;
  /** Called when an attempt fails that will be retried. */
  failed?(error: Error): void;
  /** A change to one of these resources triggers a reconciliation at once. */
  readonly follows?: readonly WatchedResource[];
}

export interface WatchedResource {
  readonly resource: Resource;
  /** Key of the single object to watch; all objects if undefined. */
  readonly key?: string;
}

export interface PostStartHook {
  readonly check: HealthCheck;
  /** Runs the first reconciliation. */
  start(measured?: MeasuredWork): Promise<void>;
  /** Runs all later reconciliations until the signal is aborted. */
  run(clock: Clock, signal: AbortSignal, measured?: MeasuredWork): Promise<void>;
}

const unmeasured: MeasuredWork = (_name, run) => run();
const retryMilliseconds = 10_000;
/**
 * Triggered reconciliations per interval. Bounds the rate of two writers that keep undoing each other's
 * changes.
 */
const maxTriggersPerInterval = 50;

/** A token bucket with a capacity of `most`, refilled by one token per interval. Returns how long to wait. */
function rateLimit(capacity: number, everyMilliseconds: number): (now: number) => number {
  let tokens = capacity;
  let lastCall = Number.NaN;
  return (now) => {
    tokens = Math.min(capacity, tokens + (lastCall < now ? (now - lastCall) / everyMilliseconds : 0));
    lastCall = now;
    const wait = tokens >= 1 ? 0 : (1 - tokens) * everyMilliseconds;
    tokens--;
    return wait;
  };
}

export function postStartHook({
  name,
  everyMilliseconds,
  reconcile,
  failed,
  optional = false,
  follows = [],
}: PostStartHookOptions): PostStartHook {
  const workName = name.replace(/^poststarthook\//, "");
  let state: "not yet" | "done" | "over" = "not yet";
  const triggerDelay = rateLimit(maxTriggersPerInterval, (everyMilliseconds ?? 0) / maxTriggersPerInterval);
  const interval = everyMilliseconds ?? Infinity;
  const retryInterval = Math.min(retryMilliseconds, interval);
  let triggered = false;
  let wake = (): void => undefined;
  const trigger = (): void => {
    triggered = true;
    wake();
  };
  const waitForTrigger = async (milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> => {
    if (triggered || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    signal.addEventListener("abort", wake, { once: true });
    const cancel = clock.after(milliseconds, resolve);
    await promise;
    cancel();
    signal.removeEventListener("abort", wake);
  };
  return {
    check: {
      name,
      check: () => {
        if (state !== "done") throw new Error(state === "not yet" ? "not finished" : "no longer running");
      },
    },
    start: async (measured = unmeasured) => {
      try {
        await measured(workName, reconcile);
        state = "done";
      } catch (error) {
        // Do not fail the start: an unavailable store or key service may come back, and in a full store space is
        // freed by deleting objects through a running server.
        if (!storeErrorToStatus(error, true) && !(error instanceof DecryptionFailed)) throw error;
        failed?.(error as Error);
        if (optional) state = "done";
      }
    },
    run: async (clock, signal, measured = unmeasured) => {
      if (everyMilliseconds === undefined && state === "done") return;
      for (const each of follows) void watchResource(each, clock, signal, trigger);
      try {
        for (let milliseconds = state === "done" ? interval : retryInterval; ;) {
          await waitForTrigger(milliseconds, clock, signal);
          if (signal.aborted) return;
          const wait = triggered ? triggerDelay(clock.monotonic()) : 0;
          if (wait > 0) await clock.sleep(wait, signal).catch(() => undefined);
          if (signal.aborted) return;
          triggered = false;
          milliseconds = interval;
          try {
            await measured(workName, reconcile);
            state = "done";
            if (everyMilliseconds === undefined) return;
          } catch (error) {
            if (!signal.aborted) failed?.(error as Error);
            milliseconds = retryInterval;
          }
        }
      } finally {
        if (everyMilliseconds !== undefined || signal.aborted) state = "over";
      }
    },
  };
}

async function watchResource(
  { resource, key }: WatchedResource,
  clock: Clock,
  signal: AbortSignal,
  trigger: () => void,
): Promise<void> {
  const concerns = ({ item }: { readonly item: CachedObject }): boolean =>
    key === undefined || item.key === resource.prefix + key;
  while (!signal.aborted) {
    const stopped = Promise.withResolvers<void>();
    const ended = (): void => stopped.resolve();
    signal.addEventListener("abort", ended, { once: true });
    const watcher = {
      deliver: (frames: readonly { readonly item: CachedObject }[]) => {
        if (frames.some(concerns)) trigger();
      },
      ended,
    };
    const watching = resource.source.watch(
      { below: "", selector: selectEverything, from: "now", signal },
      watcher,
    );
    // prettier-ignore
    await watching.then(() => stopped.promise, () => clock.sleep(1000, signal).catch(() => undefined));
    signal.removeEventListener("abort", ended);
    // Changes between two watches were missed.
    trigger();
  }
}
