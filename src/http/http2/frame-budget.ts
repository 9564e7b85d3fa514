// Limits frames that cause work without progress (PING, SETTINGS, PRIORITY, RST_STREAM, empty DATA, unknown
// types, WINDOW_UPDATE of closed streams): a connection may send a burst of them, a number per second, and
// some for each response, since clients enlarge windows and measure with PING as they read. The connection is
// closed if it exceeds the limit.
import { ConnectionError, errorCode } from "./frames.ts";

const burst = 10_000;
const perSecond = 1_000;

export class FrameBudget {
  private left = burst;
  private refilledAt = performance.now();
  private progressBefore = 0;
  private readonly progress: () => number;

  /** `progress` returns the number of frames answered so far. */
  constructor(progress: () => number) {
    this.progress = progress;
  }

  /** Throws if the budget is exhausted. The clock is only read when it appears to be. */
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
