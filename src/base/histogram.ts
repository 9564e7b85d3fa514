// One histogram series: counts per bucket, a sum, and its lines in the text exposition format.

export interface Histogram {
  /** Counts the value `weight` times. */
  observe(value: number, weight?: number): void;
  readonly count: number;
  readonly sum: number;
  readonly isUnused: boolean;
  reset(): void;
  expose(name: string, labels: string): string;
}

/** Creates a series; `bounds` is shared by all series of a metric. */
export function histogramSeries(bounds: Float64Array): Histogram {
  return new HistogramSeries(bounds);
}

class HistogramSeries implements Histogram {
  readonly #bounds: Float64Array;
  /** Allocated with the first value: most series of a server never get one. */
  #counts: Float64Array | undefined;
  count = 0;
  sum = 0;
  constructor(bounds: Float64Array) {
    this.#bounds = bounds;
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
    const bounds = this.#bounds;
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
    for (let i = 0; i < this.#bounds.length; i++) {
      total += this.#counts?.[i] ?? 0;
      text += `${name}_bucket{${lead}le="${this.#bounds[i]}"} ${total}\n`;
    }
    const braced = labels && `{${labels}}`;
    return `${text}${name}_bucket{${lead}le="+Inf"} ${this.count}\n${name}_sum${braced} ${this.sum}\n${name}_count${braced} ${this.count}\n`;
  }
}
