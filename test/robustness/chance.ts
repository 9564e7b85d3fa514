// Reproducible randomness: the same seed yields the same sequence.

export interface Chance {
  /** Returns a number of at least 0 and below 1. */
  throw(): number;
  /** Returns true with this probability. */
  percent(percent: number): boolean;
  /** Returns an integer from 0 to below `end`. */
  below(end: number): number;
  one<T>(of: readonly T[]): T;
  /**
   * Returns an independent generator for a component that draws at its own times: its sequence depends only
   * on the seed and the name.
   */
  part(name: string): Chance;
}

export function chance(seed: number): Chance {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    throw: next,
    percent: (percent) => next() * 100 < percent,
    below,
    one: (of) => of[below(of.length)]!,
    part: (name) => chance(Buffer.from(name).reduce((hash, byte) => Math.imul(hash, 31) + byte, seed)),
  };
}
