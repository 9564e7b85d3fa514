// Completion indexes of indexed jobs, and their compressed text such as 1,3-5,7.

/** The indexes in a text, those below the number of completions. */
export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? "").split(",").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let index = first!; index <= last! && index < completions; index++) indexes.add(index);
  }
  return indexes;
}

/** Two in a row are written one by one, three and more as a range. */
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

/** The lowest indexes that are neither done nor taken. */
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
