// The pause between two rounds of a loop: until the next round is triggered, or for the delay that the round
// requested.
import type { Clock } from "#base";

export class LoopTimer {
  #woken = Promise.withResolvers<void>();

  /**
   * Starts a round. A trigger from now on ends the next pause immediately, since the round may have missed
   * its cause.
   */
  reset(): void {
    this.#woken = Promise.withResolvers<void>();
  }

  wake(): void {
    this.#woken.resolve();
  }

  /** Waits until the pause is over. With Infinity only a trigger ends it. */
  async wait(maxMilliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const wake = (): void => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    const cancel = maxMilliseconds < Infinity ? clock.after(maxMilliseconds, wake) : undefined;
    if (!signal.aborted) await this.#woken.promise;
    cancel?.();
    signal.removeEventListener("abort", wake);
  }
}
