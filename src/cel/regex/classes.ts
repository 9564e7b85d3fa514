// Sets of code points as ranges: Perl, POSIX and Unicode classes, negation and case folding.

export type Range = readonly [low: number, high: number];
export type Ranges = readonly Range[];

const last = 0x10ffff;
const range = (low: string, high: string): Range => [low.charCodeAt(0), high.charCodeAt(0)];
const digits: Ranges = [range("0", "9")];
const upper: Ranges = [range("A", "Z")];
const lower: Ranges = [range("a", "z")];
const wordChars: Ranges = [...digits, ...upper, range("_", "_"), ...lower];
const spaces: Ranges = [
  [9, 10],
  [12, 13],
  [32, 32],
];

export function negated(ranges: Ranges): Ranges {
  const result: Range[] = [];
  let from = 0;
  for (const [low, high] of merged(ranges)) {
    if (low > from) result.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= last) result.push([from, last]);
  return result;
}

/** Returns the ranges sorted and without overlaps. */
export function merged(ranges: Ranges): Ranges {
  const sorted = ranges.toSorted((left, right) => left[0] - right[0]);
  const result: [number, number][] = [];
  for (const [low, high] of sorted) {
    const before = result.at(-1);
    if (before && low <= before[1] + 1) before[1] = Math.max(before[1], high);
    else result.push([low, high]);
  }
  return result;
}

export function perlClass(letter: string): Ranges | undefined {
  switch (letter) {
    case "d":
      return digits;
    case "D":
      return negated(digits);
    case "s":
      return spaces;
    case "S":
      return negated(spaces);
    case "w":
      return wordChars;
    case "W":
      return negated(wordChars);
    default:
      return undefined;
  }
}

const posix: Readonly<Record<string, Ranges>> = {
  alnum: [...digits, ...upper, ...lower],
  alpha: [...upper, ...lower],
  ascii: [[0, 127]],
  blank: [
    [9, 9],
    [32, 32],
  ],
  cntrl: [
    [0, 31],
    [127, 127],
  ],
  digit: digits,
  graph: [range("!", "~")],
  lower,
  print: [range(" ", "~")],
  punct: [range("!", "/"), range(":", "@"), range("[", "`"), range("{", "~")],
  space: [
    [9, 13],
    [32, 32],
  ],
  upper,
  word: wordChars,
  xdigit: [...digits, range("A", "F"), range("a", "f")],
};

export const posixClass = (name: string): Ranges | undefined =>
  Object.hasOwn(posix, name) ? posix[name] : undefined;

const categories =
  /^(?:C|Cc|Cf|Co|Cs|L|Ll|Lm|Lo|Lt|Lu|M|Mc|Me|Mn|N|Nd|Nl|No|P|Pc|Pd|Pe|Pf|Pi|Po|Ps|S|Sc|Sk|Sm|So|Z|Zl|Zp|Zs)$/;
const unicode = new Map<string, Ranges>();

/** Returns a Unicode category or script. There are few enough names to cache them all. */
export function classNamed(name: string): Ranges | undefined {
  if (name === "Any") return [[0, last]];
  if (!/^[A-Z][A-Za-z_]*$/.test(name)) return undefined;
  const known = unicode.get(name);
  if (known) return known;
  const property = categories.test(name) ? name : `Script=${name}`;
  let pattern: RegExp;
  try {
    pattern = new RegExp(`\\p{${property}}`, "u");
  } catch {
    return undefined;
  }
  const ranges = scan(pattern);
  unicode.set(name, ranges);
  return ranges;
}

/** Returns the code points that the pattern matches, as ranges. */
function scan(pattern: RegExp): Ranges {
  const ranges: Range[] = [];
  let from = -1;
  for (let code = 0; code <= last + 1; code += 1) {
    const inside = code <= last && pattern.test(String.fromCodePoint(code));
    if (inside && from < 0) from = code;
    if (!inside && from >= 0) {
      ranges.push([from, code - 1]);
      from = -1;
    }
  }
  return ranges;
}

const maxFoldedRange = 3000;

/** Adds the other case of every letter. Very wide ranges are assumed to contain both cases already. */
export function folded(ranges: Ranges): Ranges {
  const result: Range[] = [...ranges];
  const single = (code: number) => result.push([code, code]);
  for (const [low, high] of ranges) {
    if (high - low > maxFoldedRange) continue;
    for (let code = low; code <= high; code += 1) {
      const char = String.fromCodePoint(code);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        if (Array.from(other).length === 1) single(other.codePointAt(0)!);
      }
      if (code === 0x6b || code === 0x4b) single(0x212a);
      if (code === 0x73 || code === 0x53) single(0x17f);
    }
  }
  return merged(result);
}
