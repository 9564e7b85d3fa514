// Intervals of costs and sizes, saturating at the largest 64-bit integer, and the interface between
// estimators.

import type { Expression } from "./ast.ts";
import type { CelType } from "./types.ts";

/** An interval of costs or sizes. */
export interface Interval {
  readonly min: number;
  readonly max: number;
}

/** A node of the expression as seen by estimators. */
export interface EstimatedNode {
  /**
   * The path from a variable through fields, `@items`, `@keys` and `@values`; undefined for anything
   * computed.
   */
  readonly path: readonly string[] | undefined;
  readonly type: CelType;
  readonly expression?: Expression;
  readonly computedSize: Interval | undefined;
}

/** Returns the size of the data at a path, if known. */
export type SizeHint = (path: readonly string[]) => Interval | undefined;

export interface CallEstimate {
  readonly cost: Interval;
  readonly resultSize?: Interval;
}

export const unbounded = 2 ** 64;
export const saturated = (value: number): number => (value > unbounded ? unbounded : value);

export const interval = (min: number, max = min): Interval => ({ min, max });
export const addIntervals = (left: Interval, right: Interval): Interval =>
  interval(saturated(left.min + right.min), saturated(left.max + right.max));
export const multiplyIntervals = (left: Interval, right: Interval): Interval =>
  interval(saturated(left.min * right.min), saturated(left.max * right.max));
export const scaled = ({ min, max }: Interval, factor: number): Interval =>
  interval(saturated(Math.ceil(min * factor)), saturated(Math.ceil(max * factor)));
export const union = (left: Interval, right: Interval): Interval =>
  interval(Math.min(left.min, right.min), Math.max(left.max, right.max));
