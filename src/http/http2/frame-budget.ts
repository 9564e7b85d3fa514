// Frames that make work and bring no progress (PING, SETTINGS, PRIORITY, RST_STREAM, empty DATA, unknown types):
// a connection may send so many at once, and so many more each second. Past that it is closed.
import { ConnectionError, errorCode } from "./frames.ts";

const burst = 10_000;
const perSecond = 1_000;

export class FrameBudget {
  private left = burst;
  private refilledAt = performance.now();

  /** Throws when the budget is exhausted. The clock is read only when it seems to be. */
  charge(): void {
    if (--this.left > 0) return;
    const now = performance.now();
    this.left = Math.min(burst, ((now - this.refilledAt) / 1000) * perSecond);
    this.refilledAt = now;
    if (this.left < 1)
      throw new ConnectionError(errorCode.enhanceYourCalm, "too many frames that bring no progress");
  }
}
