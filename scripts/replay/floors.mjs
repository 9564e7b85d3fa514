// How many cases of each part match at least. Floors only rise.

/** Why a job was ended when the time for all of them was over. */
export const noTime = "no time was left";

/** What came of all jobs, by part. */
export function sumOf(outcomes) {
  const sums = {};
  for (const { counts, late } of outcomes)
    for (const [part, { matching, all }] of Object.entries(counts)) {
      const sum = (sums[part] ??= { matching: 0, all: 0, cut: false });
      sum.matching += matching;
      sum.all += all;
      // A job that hangs is held against the floor; a machine too slow for the whole is not.
      sum.cut ||= late === noTime;
    }
  return sums;
}

/**
 * Jobs of parts below their floors in which something differs. Many of them run at once and wait for what takes as
 * long as it took when it was recorded: whether they or the machine were at fault shows when they run alone.
 */
export function jobsToRunAgain(outcomes, floors) {
  const { below } = judge(sumOf(outcomes), floors);
  const differs = ({ counts, late }) =>
    below.some((part) => part in counts && (late || counts[part].matching < counts[part].all));
  return outcomes.filter(differs).map(({ job }) => job);
}

/** The outcomes with those of a second run in the place of worse ones. */
export function mergeOutcomes(first, second) {
  const matching = ({ counts }) => Object.values(counts).reduce((sum, each) => sum + each.matching, 0);
  return first.map((outcome) => {
    const again = second.find(({ job }) => job === outcome.job);
    return again && matching(again) > matching(outcome) ? again : outcome;
  });
}

/** Parts that match less than their floor, and those that match more. */
export function judge(counts, floors) {
  const names = Object.keys(counts);
  return {
    // On a machine that is too slow for the whole, what was not run says nothing.
    below: names.filter((name) => !counts[name].cut && counts[name].matching < (floors[name] ?? 0)),
    above: names.filter((name) => counts[name].matching > (floors[name] ?? 0)),
  };
}

/** The floors with those raised that more cases match. */
export const raised = (counts, floors) => ({
  ...floors,
  ...Object.fromEntries(judge(counts, floors).above.map((name) => [name, counts[name].matching])),
});
