// The seats a priority level could use, over time: the input of borrowing.

export interface DemandSummary {
  readonly average: number;
  readonly deviation: number;
  readonly highWatermark: number;
}

/** Integrates a value over time. */
export class SeatDemand {
  #value = 0;
  #max = 0;
  #since: number;
  #at: number;
  #sum = 0;
  #sumOfSquares = 0;

  constructor(now: number) {
    this.#since = this.#at = now;
  }

  set(value: number, now: number): void {
    this.#advance(now);
    this.#value = value;
    if (value > this.#max) this.#max = value;
  }

  /** Returns the statistics since the last reset. */
  reset(now: number): DemandSummary {
    this.#advance(now);
    const elapsed = now - this.#since;
    const average = elapsed > 0 ? this.#sum / elapsed : this.#value;
    const variance = elapsed > 0 ? this.#sumOfSquares / elapsed - average * average : 0;
    const summary = { average, deviation: Math.sqrt(Math.max(0, variance)), highWatermark: this.#max };
    this.#since = now;
    this.#sum = this.#sumOfSquares = 0;
    this.#max = this.#value;
    return summary;
  }

  #advance(now: number): void {
    const elapsed = now - this.#at;
    if (elapsed <= 0) return;
    this.#at = now;
    this.#sum += this.#value * elapsed;
    this.#sumOfSquares += this.#value * this.#value * elapsed;
  }
}

/** Gives a half-life of five minutes with one update in ten seconds. */
const smoothing = 0.977;

/** Follows rising demand immediately and decays slowly. */
export function smoothed(before: number, { average, deviation }: DemandSummary): number {
  const envelope = average + deviation;
  return Math.max(envelope, smoothing * before + (1 - smoothing) * envelope);
}
