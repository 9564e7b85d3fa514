// Frames that make work and bring no progress (PING, SETTINGS, PRIORITY, RST_STREAM, empty DATA, unknown types,
// WINDOW_UPDATE of closed streams): a connection may send so many at once, so many more each second, and some for
// each response, since clients open windows and measure with PING as they read. Past that it is closed.
import { ConnectionError, errorCode } from "./frames.ts";

const burst = 10_000;
const perSecond = 1_000;

export class FrameBudget {
  private left = burst;
  private refilledAt = performance.now();
  private progressBefore = 0;
  private readonly progress: () => number;

  /** `progress` counts what was answered so far, in frames. */
  constructor(progress: () => number) {
    this.progress = progress;
  }

  /** Throws when the budget is exhausted. The clock is read only when it seems to be. */
  charge(): void {
    if (--this.left > 0) return;
    const now = performance.now();
    const progress = this.progress();
    const earned = ((now - this.refilledAt) / 1000) * perSecond + (progress - this.progressBefore);
    this.left = Math.min(burst, earned);
    this.refilledAt = now;
    this.progressBefore = progress;
    if (this.left < 1)
      throw new ConnectionError(errorCode.enhanceYourCalm, "too many frames that bring no progress");
  }
}
