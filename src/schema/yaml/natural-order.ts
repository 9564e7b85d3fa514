// Key order of printed YAML: letters sort after everything else, and runs of digits compare as numbers, so
// that a2 comes before a10.

const isLetter = (character: string): boolean => /^\p{L}$/u.test(character);
const isDigit = (character: string | undefined): boolean =>
  character !== undefined && /^\p{Nd}$/u.test(character);

export function compareNaturally(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (x === y) continue;
    if (isLetter(x) && isLetter(y)) return x.codePointAt(0)! - y.codePointAt(0)!;
    if (isLetter(x)) return 1;
    if (isLetter(y)) return -1;
    // If one of the runs starts with a zero, the preceding digits determine whether it is a leading zero.
    let lead = 0n;
    if (x === "0" || y === "0") for (let j = i - 1; j >= 0 && isDigit(a[j]); j--) if (a[j] !== "0") lead = 1n;
    const [m, mEnd] = numberAt(a, i, lead);
    const [n, nEnd] = numberAt(b, i, lead);
    if (m !== n) return m < n ? -1 : 1;
    return mEnd !== nEnd ? mEnd - nEnd : x.codePointAt(0)! - y.codePointAt(0)!;
  }
  return a.length - b.length;
}

/** Digits before the last 64 do not change a 64-bit integer: 10^64 is a multiple of 2^64. */
const significantDigits = 64;

/** The number as Go's int64 computes it, wrapping around on overflow. */
function numberAt(text: readonly string[], start: number, lead: bigint): [value: bigint, end: number] {
  let end = start;
  while (isDigit(text[end])) end++;
  const first = Math.max(start, end - significantDigits);
  let value = first === start ? lead : 0n;
  for (let i = first; i < end; i++) value = value * 10n + BigInt(text[i]!.codePointAt(0)! - 48);
  return [BigInt.asIntN(64, value), end];
}
