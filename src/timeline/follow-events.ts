// Follows all stored events, starting with the current state. When the watch ends it is restarted after a
// delay, and all events are delivered again.
import { type Clock, type Log, selectEverything } from "#base";
import type { Frame, ObjectSource } from "#watchcache";

export interface EventFollower {
  readonly events: ObjectSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** What is not done while events cannot be followed, for the log. */
  readonly without: string;
  deliver(frames: readonly Frame[]): void;
  /** Discards all state: the events are about to be delivered again. */
  forget(): void;
}

const retryMilliseconds = 1000;

/** Resolves once the current state has been delivered. */
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
