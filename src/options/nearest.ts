// Suggests a known name for a mistyped one.

/**
 * Returns the closest name within an edit distance of a third of the letters, with insertions, deletions,
 * changes and transpositions.
 */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - given.length) >= least) continue;
    const far = distance(given.toLowerCase(), name.toLowerCase(), least);
    if (far < least) {
      least = far;
      best = name;
    }
  }
  return best;
}

function distance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(change, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    if (Math.min(...row) >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** Returns `; did you mean x?`, or an empty string. */
export function hint(
  given: string,
  known: Iterable<string>,
  show: (name: string) => string = (name) => name,
): string {
  const name = nearest(given, known);
  return name === undefined ? "" : `; did you mean ${show(name)}?`;
}
