// One summary series: quantiles of the last hours, a sum and a count, in the text exposition format. Values
// are counted in buckets that grow by five per cent, which bounds the error of a quantile.

export interface Summary {
  observe(value: number): void;
  readonly count: number;
  readonly sum: number;
  readonly isUnused: boolean;
  reset(): void;
  expose(name: string, labels: string): string;
}

const quantiles = [0.5, 0.9, 0.99] as const;
const growth = Math.log(1.05);
const smallest = 1e-6;
/** Covers one microsecond to about a day. */
const buckets = 520;
const windows = 5;

export interface SummaryOptions {
  /** The period over which quantiles are computed. */
  readonly windowMilliseconds?: number;
  readonly now?: () => number;
}

export function summarySeries(options: SummaryOptions = {}): Summary {
  const { windowMilliseconds = 5 * 3600_000, now = () => performance.now() } = options;
  const part = windowMilliseconds / windows;
  const counts = Array.from({ length: windows }, () => new Uint32Array(buckets));
  let newest = Math.floor(now() / part);
  let current = counts[newest % windows]!;
  let until = (newest + 1) * part;
  let sum = 0;
  let count = 0;

  /** Clears the windows that are about to be reused. */
  const advance = (time: number): void => {
    const at = Math.floor(time / part);
    for (let each = Math.max(newest + 1, at - windows + 1); each <= at; each++)
      counts[each % windows]!.fill(0);
    newest = Math.max(newest, at);
    current = counts[newest % windows]!;
    until = (newest + 1) * part;
  };
  const quantile = (wanted: number): number => {
    const total = counts.reduce((all, each) => all + each.reduce((one, value) => one + value, 0), 0);
    if (total === 0) return Number.NaN;
    let seen = 0;
    for (let bucket = 0; bucket < buckets; bucket++) {
      for (const each of counts) seen += each[bucket]!;
      if (seen >= wanted * total) return smallest * Math.exp(growth * bucket);
    }
    return Number.NaN;
  };

  return {
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    get isUnused() {
      return count === 0;
    },
    reset: () => {
      for (const each of counts) each.fill(0);
      sum = 0;
      count = 0;
    },
    observe: (value) => {
      const bucket = value <= smallest ? 0 : Math.ceil(Math.log(value / smallest) / growth);
      const time = now();
      if (time >= until) advance(time);
      current[bucket < buckets ? bucket : buckets - 1]!++;
      sum += value;
      count++;
    },
    expose: (name, labels) => {
      advance(now());
      const lead = labels && `${labels},`;
      const braced = labels && `{${labels}}`;
      return `${quantiles
        .map((each) => `${name}{${lead}quantile="${each}"} ${quantile(each)}\n`)
        .join("")}${name}_sum${braced} ${sum}\n${name}_count${braced} ${count}\n`;
    },
  };
}
