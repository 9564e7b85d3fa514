// The pause between two rounds of a loop: until something calls for the next one, and no longer than usual.
import type { Clock } from "#base";

const longestMilliseconds = 500;

export class Rest {
  #ended = Promise.withResolvers<void>();

  /** What calls from here on ends the next pause at once: the round that begins may have missed it. */
  begin(): void {
    this.#ended = Promise.withResolvers<void>();
  }

  end(): void {
    this.#ended.resolve();
  }

  async over(clock: Clock, signal: AbortSignal): Promise<void> {
    const end = (): void => this.end();
    signal.addEventListener("abort", end, { once: true });
    const cancel = clock.after(longestMilliseconds, end);
    if (!signal.aborted) await this.#ended.promise;
    cancel();
    signal.removeEventListener("abort", end);
  }
}
