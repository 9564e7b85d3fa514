// Work that is done when the server starts and again ever after: every so often, and whenever something it
// looks after changes. Each is a health check, too: it fails until the work was done once, and when nobody
// does it any more.
import { type Clock, selectEverything } from "#base";
import type { Resource } from "#registry";
import type { CachedObject } from "#watchcache";
import type { HealthCheck } from "../health/health.ts";
import { storeErrorToStatus } from "#filters";
import type { MeasuredWork } from "../metrics/work-metrics.ts";

export interface PostStartHookOptions {
  /** What operators know the check by. */
  readonly name: string;
  /** Left out for what is done at the start alone. */
  readonly everyMilliseconds?: number | undefined;
  reconcile(): Promise<void>;
  /** The server does as well without, for as long as it takes. */
  readonly optional?: boolean;
  /** Told when a look fails that is tried again. */
  failed?(error: Error): void;
  /** Whoever changes one of these calls for a look at once. */
  readonly follows?: readonly WatchedResource[];
}

export interface WatchedResource {
  readonly resource: Resource;
  /** The one object that counts, by its key; all of them without one. */
  readonly key?: string;
}

export interface PostStartHook {
  readonly check: HealthCheck;
  /** The first look. */
  start(measured?: MeasuredWork): Promise<void>;
  /** All later ones, until the signal. */
  keep(clock: Clock, signal: AbortSignal, measured?: MeasuredWork): Promise<void>;
}

const unmeasured: MeasuredWork = (_name, run) => run();
const retryMilliseconds = 10_000;
/** Two who undo each other's work do so this often in one turn, not as fast as they can. */
const mostCallsPerTurn = 50;

/** Lets so many pass at once, and then no more than one in each of the times given. */
function limit(most: number, everyMilliseconds: number): (now: number) => number {
  let left = most;
  let seen = Number.NaN;
  return (now) => {
    left = Math.min(most, left + (seen < now ? (now - seen) / everyMilliseconds : 0));
    seen = now;
    const wait = left >= 1 ? 0 : (1 - left) * everyMilliseconds;
    left--;
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
  const waitOf = limit(mostCallsPerTurn, (everyMilliseconds ?? 0) / mostCallsPerTurn);
  const usual = everyMilliseconds ?? Infinity;
  const soon = Math.min(retryMilliseconds, usual);
  let called = false;
  let wake = (): void => undefined;
  const call = (): void => {
    called = true;
    wake();
  };
  const rest = async (milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> => {
    if (called || signal.aborted) return;
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
        if (state !== "done")
          throw new Error(state === "not yet" ? "not finished" : "nobody does this any more");
      },
    },
    start: async (measured = unmeasured) => {
      try {
        await measured(workName, reconcile);
        state = "done";
      } catch (error) {
        // A store that is away comes back, and in one that is full space is made by deleting through a
        // server: it must not wait for that.
        if (!storeErrorToStatus(error, true)) throw error;
        failed?.(error as Error);
        if (optional) state = "done";
      }
    },
    keep: async (clock, signal, measured = unmeasured) => {
      if (everyMilliseconds === undefined && state === "done") return;
      for (const each of follows) void follow(each, clock, signal, call);
      try {
        for (let milliseconds = state === "done" ? usual : soon; ;) {
          await rest(milliseconds, clock, signal);
          if (signal.aborted) return;
          const wait = called ? waitOf(clock.now()) : 0;
          if (wait > 0) await clock.sleep(wait, signal).catch(() => undefined);
          if (signal.aborted) return;
          called = false;
          milliseconds = usual;
          try {
            await measured(workName, reconcile);
            state = "done";
            if (everyMilliseconds === undefined) return;
          } catch (error) {
            if (!signal.aborted) failed?.(error as Error);
            milliseconds = soon;
          }
        }
      } finally {
        if (everyMilliseconds !== undefined || signal.aborted) state = "over";
      }
    },
  };
}

async function follow(
  { resource, key }: WatchedResource,
  clock: Clock,
  signal: AbortSignal,
  call: () => void,
): Promise<void> {
  const concerns = ({ item }: { readonly item: CachedObject }): boolean =>
    key === undefined || item.key === resource.prefix + key;
  while (!signal.aborted) {
    const over = Promise.withResolvers<void>();
    const ended = (): void => over.resolve();
    signal.addEventListener("abort", ended, { once: true });
    const watcher = {
      deliver: (frames: readonly { readonly item: CachedObject }[]) => {
        if (frames.some(concerns)) call();
      },
      ended,
    };
    const watching = resource.source.watch(
      { below: "", selector: selectEverything, from: "now", signal },
      watcher,
    );
    // prettier-ignore
    await watching.then(() => over.promise, () => clock.sleep(1000, signal).catch(() => undefined));
    signal.removeEventListener("abort", ended);
    // What happened between two watches was not seen.
    call();
  }
}
