// How many cases of each part match at least. Floors only rise.

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
