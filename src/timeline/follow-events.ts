// Follows all stored events from what is there on. Where the watch ends it is begun again after a while, with
// everything told anew.
import { type Clock, type Log, selectEverything } from "#base";
import type { Frame, ObjectSource } from "#watchcache";

export interface EventFollower {
  readonly events: ObjectSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** What does not happen meanwhile, for the log. */
  readonly without: string;
  deliver(frames: readonly Frame[]): void;
  /** What was told counts no more. */
  forget(): void;
}

const retryMilliseconds = 1000;

/** Resolves once what is there has been told. */
export async function followEvents(follower: EventFollower): Promise<void> {
  const { events, clock, log, signal, without } = follower;
  const again = (): void => {
    follower.forget();
    if (signal.aborted) return;
    const cancel = clock.after(retryMilliseconds, () => {
      signal.removeEventListener("abort", cancel);
      void followEvents(follower);
    });
    signal.addEventListener("abort", cancel, { once: true });
  };
  try {
    await events.watch(
      { below: "", selector: selectEverything, from: "state", signal },
      { deliver: (frames) => follower.deliver(frames), ended: again },
    );
  } catch (error) {
    log.error(`events cannot be followed; ${without} for now`, { error: (error as Error).message });
    again();
  }
}
