// Completion indexes of indexed jobs, and their compressed format such as 1,3-5,7.

/** Parses indexes, dropping those not below the number of completions. */
export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>();
  for (const [first, last] of parseRanges(text, completions))
    for (let index = first; index <= last; index++) indexes.add(index);
  return indexes;
}

/** Same as parseIndexes, as the first and last index of each range. */
export function parseRanges(
  text: string | undefined,
  completions: number,
): (readonly [first: number, last: number])[] {
  const parts = (text ?? "").split(",").filter(Boolean);
  return parts
    .map((part) => {
      const [first, last = first] = part.split("-").map(Number);
      return [first!, Math.min(last!, completions - 1)] as const;
    })
    .filter(([first, last]) => first <= last);
}

/** Formats indexes; runs of three or more are written as ranges. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].toSorted((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    const [first, last] = [sorted[at]!, sorted[end]!];
    parts.push(last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
    at = end + 1;
  }
  return parts.join(",");
}

/** Returns the lowest indexes that are neither completed nor active. */
export function pendingIndexes(
  taken: ReadonlySet<number>,
  done: ReadonlySet<number>,
  count: number,
  completions: number,
): number[] {
  const pending: number[] = [];
  for (let index = 0; index < completions && pending.length < count; index++)
    if (!taken.has(index) && !done.has(index)) pending.push(index);
  return pending;
}
