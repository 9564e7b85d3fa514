// One histogram series: counts per bucket, a sum, and its lines in the text exposition format.
import { goFloat } from "./go-value.ts";

export interface Histogram {
  /** Counts the value `weight` times. */
  observe(value: number, weight?: number): void;
  readonly count: number;
  readonly sum: number;
  readonly isUnused: boolean;
  reset(): void;
  expose(name: string, labels: string): string;
}

/** The upper bounds of a metric's buckets with their label values, shared by all its series. */
export interface Buckets {
  readonly bounds: Float64Array;
  readonly labels: readonly string[];
}

/** Labels are printed as by Go, since queries select buckets by their text. `bounds` must be ascending. */
export const bucketsOf = (bounds: readonly number[]): Buckets => ({
  bounds: Float64Array.from(bounds),
  labels: bounds.map(goFloat),
});

/** Creates a series. */
export function histogramSeries(buckets: Buckets): Histogram {
  return new HistogramSeries(buckets);
}

class HistogramSeries implements Histogram {
  readonly #buckets: Buckets;
  /** Allocated with the first value: most series of a server never get one. */
  #counts: Float64Array | undefined;
  count = 0;
  sum = 0;
  constructor(buckets: Buckets) {
    this.#buckets = buckets;
  }

  get isUnused(): boolean {
    return this.count === 0;
  }

  reset(): void {
    this.#counts = undefined;
    this.count = 0;
    this.sum = 0;
  }

  observe(value: number, weight = 1): void {
    const { bounds } = this.#buckets;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bounds[middle]! < value) low = middle + 1;
      else high = middle;
    }
    this.#counts ??= new Float64Array(bounds.length + 1);
    this.#counts[low]! += weight;
    this.count += weight;
    this.sum += value * weight;
  }

  expose(name: string, labels: string): string {
    const lead = labels && `${labels},`;
    let text = "";
    let total = 0;
    for (const [i, label] of this.#buckets.labels.entries()) {
      total += this.#counts?.[i] ?? 0;
      text += `${name}_bucket{${lead}le="${label}"} ${total}\n`;
    }
    const braced = labels && `{${labels}}`;
    return `${text}${name}_bucket{${lead}le="+Inf"} ${this.count}\n${name}_sum${braced} ${this.sum}\n${name}_count${braced} ${this.count}\n`;
  }
}
