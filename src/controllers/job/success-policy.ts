// Evaluates a job's success policy.
import type { SuccessPolicy } from "#api";
import { parseRanges } from "./indexes.ts";

/** Returns which rule the succeeded indexes meet, as a message; undefined if none. */
export function metRule(
  policy: SuccessPolicy | undefined,
  succeeded: ReadonlySet<number>,
  completions: number,
): string | undefined {
  if (succeeded.size === 0) return undefined;
  const at = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    const needed = succeededCount ?? Infinity;
    if (typeof succeededIndexes !== "string") return succeeded.size >= needed;
    const ranges = parseRanges(succeededIndexes, completions);
    const wanted = ranges.reduce((total, [first, last]) => total + last - first + 1, 0);
    const met = countWithin(ranges, succeeded);
    return wanted > 0 && (met === wanted || met >= needed);
  });
  return at < 0 ? undefined : `Matched rules at index ${at}`;
}

/** Counts the indexes that are in one of the increasing ranges. */
function countWithin(ranges: readonly (readonly [number, number])[], indexes: ReadonlySet<number>): number {
  let at = 0;
  let count = 0;
  for (const index of [...indexes].toSorted((a, b) => a - b)) {
    while (at < ranges.length && ranges[at]![1] < index) at++;
    if (at < ranges.length && ranges[at]![0] <= index) count++;
  }
  return count;
}
