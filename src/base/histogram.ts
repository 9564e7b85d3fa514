// One histogram series: counts per bucket, a sum, and its lines in the text exposition format.

export interface Histogram {
  /** `weight` counts the value so many times. */
  observe(value: number, weight?: number): void;
  readonly count: number;
  readonly sum: number;
  expose(name: string, labels: string): string;
}

export function histogramSeries(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  return new HistogramSeries(Float64Array.from(bounds), counts);
}

class HistogramSeries implements Histogram {
  readonly #bounds: Float64Array;
  readonly #counts: Float64Array;
  count = 0;
  sum = 0;
  constructor(bounds: Float64Array, counts: Float64Array) {
    this.#bounds = bounds;
    this.#counts = counts;
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
    this.#counts[low]! += weight;
    this.count += weight;
    this.sum += value * weight;
  }

  expose(name: string, labels: string): string {
    const lead = labels && `${labels},`;
    let text = "";
    let total = 0;
    for (let i = 0; i < this.#bounds.length; i++) {
      total += this.#counts[i]!;
      text += `${name}_bucket{${lead}le="${this.#bounds[i]}"} ${total}\n`;
    }
    const braced = labels && `{${labels}}`;
    return `${text}${name}_bucket{${lead}le="+Inf"} ${this.count}\n${name}_sum${braced} ${this.sum}\n${name}_count${braced} ${this.count}\n`;
  }
}
