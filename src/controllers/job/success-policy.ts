// Evaluates a job's success policy.
import type { SuccessPolicy } from "#api";
import { IndexSet } from "./indexes.ts";

/** Returns which rule the succeeded indexes meet, as a message; undefined if none. */
export function metRule(
  policy: SuccessPolicy | undefined,
  succeeded: IndexSet,
  completions: number,
): string | undefined {
  if (succeeded.size === 0) return undefined;
  const at = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    const needed = succeededCount ?? Infinity;
    if (typeof succeededIndexes !== "string") return succeeded.size >= needed;
    const wanted = IndexSet.parse(succeededIndexes, completions);
    const met = wanted.countCommon(succeeded);
    return wanted.size > 0 && (met === wanted.size || met >= needed);
  });
  return at < 0 ? undefined : `Matched rules at index ${at}`;
}
