// The pause between two rounds of a loop: until something calls for the next one, or until a time that the round
// named.
import type { Clock } from "#base";

export class Rest {
  #ended = Promise.withResolvers<void>();

  /** What calls from here on ends the next pause at once: the round that begins may have missed it. */
  begin(): void {
    this.#ended = Promise.withResolvers<void>();
  }

  end(): void {
    this.#ended.resolve();
  }

  /** Infinity: nothing but a call ends it. */
  async over(longestMilliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const end = (): void => this.end();
    signal.addEventListener("abort", end, { once: true });
    const cancel = longestMilliseconds < Infinity ? clock.after(longestMilliseconds, end) : undefined;
    if (!signal.aborted) await this.#ended.promise;
    cancel?.();
    signal.removeEventListener("abort", end);
  }
}
