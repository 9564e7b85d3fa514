// Completion indexes of jobs in their compressed format, such as 1,3-5,7.

export interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** Parses increasing indexes below the number of completions; otherwise returns what is wrong. */
export function parseIndexRanges(text: string, completions: number): IndexRange[] | string {
  const ranges: IndexRange[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    const range = parseRange(part, completions);
    if (typeof range === "string") return range;
    const previous = ranges.at(-1)?.last;
    if (previous !== undefined && previous >= range.first) return notIncreasing(previous, range.first);
    ranges.push(range);
  }
  return ranges;
}

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;

function parseRange(part: string, completions: number): IndexRange | string {
  const limits = part.split("-");
  if (limits.length > 2)
    return `the fragment ${JSON.stringify(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit))
      return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
  }
  const [first = 0, last = first] = limits.map(Number);
  return limits.length === 2 && first >= last ? notIncreasing(first, last) : { first, last };
}

export const countIndexes = (ranges: readonly IndexRange[]): number =>
  ranges.reduce((total, { first, last }) => total + last - first + 1, 0);

/** Returns the lowest index that is in both lists of ranges. */
export function firstCommonIndex(
  some: readonly IndexRange[],
  others: readonly IndexRange[],
): number | undefined {
  for (let at = 0, next = 0; at < some.length && next < others.length;) {
    const [range, other] = [some[at]!, others[next]!];
    if (range.first <= other.last && other.first <= range.last) return Math.max(range.first, other.first);
    if (range.first <= other.first) at++;
    else next++;
  }
  return undefined;
}
