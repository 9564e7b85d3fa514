// Counts per interval as stacked bars: changes at the bottom, then normal events, warnings on top.
import type { BucketList } from "../api/wire.ts";
import { type MarkKind, markOf } from "../shell/mark-kind.ts";

export interface Stack {
  /** The middle of each interval in seconds since the epoch. */
  readonly times: readonly number[];
  /** The upper ends of the stacked bars. */
  readonly changes: readonly number[];
  readonly normal: readonly number[];
  readonly warnings: readonly number[];
  /** Totals by kind. */
  readonly totals: Readonly<Record<"normal" | "warning" | "change", number>>;
}

export function stackOf({ start, intervalSeconds, intervals, groups }: BucketList): Stack {
  const from = Date.parse(start) / 1000;
  const sums = { change: zeros(intervals), normal: zeros(intervals), warning: zeros(intervals) };
  for (const { by, counts } of groups) {
    const into = sums[markOf(by["type"] ?? "Normal") as Exclude<MarkKind, "good">];
    for (let at = 0; at < intervals; at++) into[at]! += counts[at] ?? 0;
  }
  const totals = { change: sum(sums.change), normal: sum(sums.normal), warning: sum(sums.warning) };
  const normal = sums.normal.map((count, at) => count + sums.change[at]!);
  return {
    times: Array.from({ length: intervals }, (_, at) => from + (at + 0.5) * intervalSeconds),
    changes: sums.change,
    normal,
    warnings: sums.warning.map((count, at) => count + normal[at]!),
    totals,
  };
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
