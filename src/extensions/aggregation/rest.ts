// The pause between two rounds of a loop: until the next round is triggered, or for the delay that the round
// requested.
import type { Clock } from "#base";

export class Rest {
  #ended = Promise.withResolvers<void>();

  /**
   * Starts a round. A trigger from now on ends the next pause immediately, since the round may have missed
   * its cause.
   */
  begin(): void {
    this.#ended = Promise.withResolvers<void>();
  }

  end(): void {
    this.#ended.resolve();
  }

  /** Waits until the pause is over. With Infinity only a trigger ends it. */
  async over(longestMilliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const end = (): void => this.end();
    signal.addEventListener("abort", end, { once: true });
    const cancel = longestMilliseconds < Infinity ? clock.after(longestMilliseconds, end) : undefined;
    if (!signal.aborted) await this.#ended.promise;
    cancel?.();
    signal.removeEventListener("abort", end);
  }
}
