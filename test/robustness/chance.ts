// Luck that can be had again: the same seed gives the same throws.

export interface Chance {
  /** At least 0, below 1. */
  throw(): number;
  /** True so many times of a hundred. */
  percent(percent: number): boolean;
  /** A whole number from 0 up to below `end`. */
  below(end: number): number;
  one<T>(of: readonly T[]): T;
  /**
   * Luck of its own for a part that throws at times of its own: what it throws depends on the seed and the
   * name only.
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
