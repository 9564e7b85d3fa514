// The minimum number of matching cases of each part. Floors only rise.

/** The reason of a job that was stopped because the time limit of the whole replay was reached. */
export const noTime = "no time was left";

/** Sums the outcomes of all jobs by part. */
export function sumOf(outcomes) {
  const sums = {};
  for (const { counts, late } of outcomes)
    for (const [part, { matching, all }] of Object.entries(counts)) {
      const sum = (sums[part] ??= { matching: 0, all: 0, cut: false });
      sum.matching += matching;
      sum.all += all;
      // A hanging job counts against the floor; a machine that is too slow for the whole replay does not.
      sum.cut ||= late === noTime;
    }
  return sums;
}

/**
 * Returns the jobs with differences in parts below their floors. Jobs run in parallel with recorded time limits, so
 * these are repeated alone to rule out that the machine was too busy.
 */
export function jobsToRunAgain(outcomes, floors) {
  const { below } = judge(sumOf(outcomes), floors);
  const differs = ({ counts, late }) =>
    below.some((part) => part in counts && (late || counts[part].matching < counts[part].all));
  return outcomes.filter(differs).map(({ job }) => job);
}

/** Replaces outcomes by those of a second run if these are better. */
export function mergeOutcomes(first, second) {
  const matching = ({ counts }) => Object.values(counts).reduce((sum, each) => sum + each.matching, 0);
  return first.map((outcome) => {
    const again = second.find(({ job }) => job === outcome.job);
    return again && matching(again) > matching(outcome) ? again : outcome;
  });
}

/** Returns the parts that match less than their floor, and those that match more. */
export function judge(counts, floors) {
  const names = Object.keys(counts);
  return {
    // Parts that were not run completely because the machine was too slow are not judged.
    below: names.filter((name) => !counts[name].cut && counts[name].matching < (floors[name] ?? 0)),
    above: names.filter((name) => counts[name].matching > (floors[name] ?? 0)),
  };
}

/** Returns the floors, raised where more cases match. */
export const raised = (counts, floors) => ({
  ...floors,
  ...Object.fromEntries(judge(counts, floors).above.map((name) => [name, counts[name].matching])),
});
