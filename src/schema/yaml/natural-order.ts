// Key order of printed YAML: letters sort after everything else, and runs of digits compare as numbers, so
// that a2 comes before a10.

export function compareNaturally(left: string, right: string): number {
  const at = firstDifference(left, right);
  const [x, y] = [left.codePointAt(at), right.codePointAt(at)];
  // One is the beginning of the other.
  if (x === undefined || y === undefined) return left.length - right.length;
  const [isLetterX, isLetterY] = [isLetter(x), isLetter(y)];
  if (isLetterX && isLetterY) return x - y;
  if (isLetterX) return 1;
  if (isLetterY) return -1;
  if (!isDigit(x) && !isDigit(y)) return x - y;
  // If one of the runs starts with a zero, the preceding digits determine whether it is a leading zero.
  const lead = (x === zero || y === zero) && followsNumber(left, at);
  return compareSmallNumbers(left, right, at, lead) || compareNumbers(left, right, at, lead) || x - y;
}

const zero = 48;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;

/** Returns the index of the first character, not only half of it, that differs. */
function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  const isInside =
    (isLowSurrogate(left.charCodeAt(at)) || isLowSurrogate(right.charCodeAt(at))) &&
    isHighSurrogate(left.charCodeAt(at - 1));
  return isInside ? at - 1 : at;
}

const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

function isLetter(point: number): boolean {
  if (point > 127) return letter.test(String.fromCodePoint(point));
  return (point >= 97 && point <= 122) || (point >= 65 && point <= 90);
}

const isDigit = (point: number | undefined): boolean =>
  point !== undefined &&
  (point > 127 ? digit.test(String.fromCodePoint(point)) : point >= zero && point < zero + 10);

/** Reports whether the digits right before an index contain one that is not zero. */
function followsNumber(text: string, index: number): boolean {
  for (let at = index; at > 0;) {
    at -= isLowSurrogate(text.charCodeAt(at - 1)) && isHighSurrogate(text.charCodeAt(at - 2)) ? 2 : 1;
    const point = text.codePointAt(at);
    if (!isDigit(point)) return false;
    if (point !== zero) return true;
  }
  return false;
}

/**
 * Compares two numbers of a few ASCII digits, without BigInt, which takes many times longer. Returns 0 if they are
 * equal or others.
 */
function compareSmallNumbers(left: string, right: string, at: number, lead: boolean): number {
  const [m, n] = [smallNumber(left, at, lead), smallNumber(right, at, lead)];
  return m < n ? -1 : m > n ? 1 : 0;
}

function smallNumber(text: string, start: number, lead: boolean): number {
  let number = lead ? 1 : 0;
  for (let at = start; at < start + 16; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 127) return Number.NaN;
    if (!(unit >= zero && unit < zero + 10)) return number;
    number = number * 10 + unit - zero;
  }
  return Number.NaN;
}

/** Digits before the last 64 do not change a 64-bit integer: 10^64 is a multiple of 2^64. */
const significantDigits = 64;

/** Compares two runs of digits as Go's int64 computes them, wrapping around on overflow, then by length. */
function compareNumbers(left: string, right: string, at: number, lead: boolean): number {
  const [xs, ys] = [digitsAt(left, at), digitsAt(right, at)];
  const [m, n] = [valueOf(xs, lead), valueOf(ys, lead)];
  return m < n ? -1 : m > n ? 1 : xs.length - ys.length;
}

function digitsAt(text: string, start: number): readonly number[] {
  const points: number[] = [];
  for (let at = start, point = text.codePointAt(at); isDigit(point); point = text.codePointAt(at)) {
    points.push(point!);
    at += point! > 0xffff ? 2 : 1;
  }
  return points;
}

function valueOf(digits: readonly number[], lead: boolean): bigint {
  const significant = digits.slice(-significantDigits);
  let value = lead && significant.length === digits.length ? 1n : 0n;
  for (const point of significant) value = value * 10n + BigInt(point - zero);
  return BigInt.asIntN(64, value);
}
