// Amounts such as "1500m", "1.5Gi" or "12e6", held exactly. A quantity is printed in the suffix family it was
// written in.

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** `value` × 10^`scale`. */
export interface Quantity {
  readonly value: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** The text it was parsed from, if that is printed unchanged. */
  readonly text?: string;
  /**
   * The value has more digits than kube-apiserver's 64-bit representation holds: values derived from it wrap
   * around.
   */
  readonly large?: boolean;
}

export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const grammar = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const wrongFormat = `quantities must match the regular expression '${grammar}'`;
const wrongSuffix = "unable to parse quantity's suffix";

// prettier-ignore
const decimalSuffixes = new Map([["n", -9], ["u", -6], ["m", -3], ["", 0], ["k", 3], ["M", 6], ["G", 9], ["T", 12], ["P", 15], ["E", 18]]);
const decimalNames = new Map([...decimalSuffixes].map(([name, exponent]) => [exponent, name]));
const binaryNames = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const binarySuffixes = new Map(binaryNames.slice(1).map((name, index) => [name, (index + 1) * 10]));

const nano = -9;
const most = (1n << 63n) - 1n;
/** Larger exponents are rejected, as they would only cost processor time. */
const widestExponent = 10_000;
const longestText = 1024;

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function suffixOf(text: string): Suffix {
  const decimal = decimalSuffixes.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: "DecimalSI" };
  const binary = binarySuffixes.get(text);
  if (binary !== undefined) return { base: 2, exponent: binary, format: "BinarySI" };
  if (/^[eE][-+]?[0-9]+$/.test(text)) {
    const exponent = Number(text.slice(1));
    if (Math.abs(exponent) <= widestExponent) return { base: 10, exponent, format: "DecimalExponent" };
  }
  throw new QuantityError(wrongSuffix);
}

// Sign, leading zeros, digits, fraction, suffix: each part is optional, so that "m" and "." read as zero.
// No two parts may begin with the same character: trying all ways to divide digits takes quadratic time.
const parts = /^([+-]?)0*((?:[1-9][0-9]*)?)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;

export function parseQuantity(text: string): Quantity {
  const found = text.length > 0 && text.length <= longestText ? parts.exec(text) : null;
  if (!found) throw new QuantityError(wrongFormat);
  const whole = found[2] || "0";
  const fraction = found[3] ?? "";
  const { base, exponent, format } = suffixOf(found[4]!);
  const digits = whole + fraction;
  const magnitude = BigInt(digits);
  const negative = found[1] === "-";
  const signed = (value: bigint) => (negative ? -value : value);

  // Quantities of ordinary size keep their text if it looks canonical. (This also keeps "1.500" and "+5", as
  // in kube-apiserver.)
  if (base === 2) {
    if (fraction === "" && 14 - whole.length - Math.trunc((exponent * 3) / 10) >= 0) {
      const kept = magnitude & 7n ? { text } : undefined;
      return { value: signed(magnitude << BigInt(exponent)), scale: 0, format, ...kept };
    }
  } else {
    const scale = exponent - fraction.length;
    if (digits.length <= 18 && scale >= nano) {
      const kept =
        text === "0" || (scale % 3 === 0 && !digits.endsWith("000") && digits[0] !== "0")
          ? { text }
          : undefined;
      return { value: signed(magnitude), scale, format, ...kept };
    }
  }

  let { value, scale } =
    base === 2
      ? { value: magnitude << BigInt(exponent), scale: -fraction.length }
      : { value: magnitude, scale: exponent - fraction.length };
  if (scale < nano) {
    value = divideUp(value, nano - scale); // round up to the smallest unit, never to zero
    scale = nano;
  }
  if (format === "BinarySI") {
    if (value > most * 10n ** BigInt(-scale)) return { value: signed(most), scale: 0, format, large: true };
    if (value > 0n && value < 10n ** BigInt(-scale))
      return { value: signed(value), scale, format: "DecimalSI" };
  }
  return { value: signed(value), scale, format, large: true };
}

/** Divides by 10^`places`, rounding away from zero. */
function divideUp(value: bigint, places: number): bigint {
  if (value === 0n) return 0n;
  const magnitude = value < 0n ? -value : value;
  const quotient =
    places > longestText * 2 ? 1n : (magnitude + 10n ** BigInt(places) - 1n) / 10n ** BigInt(places);
  return value < 0n ? -quotient : quotient;
}

/** Formats a quantity canonically: without a fraction, with the largest suffix that keeps the value exact. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.value === 0n) return "0";
  if (quantity.format === "BinarySI") {
    const whole = scaledValue(quantity, 0);
    const exact = quantity.scale >= 0 || whole * 10n ** BigInt(-quantity.scale) === quantity.value;
    if (exact && (whole <= -1024n || whole >= 1024n)) return formatBinary(whole);
  }
  let { value, scale } = quantity;
  while (value % 10n === 0n) {
    value /= 10n;
    scale++;
  }
  const largest = quantity.format === "DecimalExponent" ? Infinity : 18;
  while (scale % 3 !== 0 || scale > largest) {
    value *= 10n;
    scale--;
  }
  if (quantity.format === "DecimalExponent") return scale === 0 ? `${value}` : `${value}e${scale}`;
  return `${value}${decimalNames.get(scale) ?? ""}`;
}

function formatBinary(value: bigint): string {
  let power = 0;
  while (power < binaryNames.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    power++;
  }
  return `${value}${binaryNames[power]}`;
}

// Fast path: most quantities on the wire are canonical already, with a few digits and a common suffix. The
// number is the factor between a suffix and the next.
// prettier-ignore
const plainSuffixes = new Map([["", 1000], ["m", 1000], ["k", 1000], ["M", 1000], ["G", 1000], ["Ki", 1024], ["Mi", 1024], ["Gi", 1024]]);

/** Parses a quantity and returns its canonical text. */
export function canonicalQuantity(text: string): string {
  let at = 0;
  let value = 0;
  for (let code = text.charCodeAt(0); code >= 48 && code <= 57 && at < 10; code = text.charCodeAt(++at))
    value = value * 10 + code - 48;
  if (at > 0 && at < 10 && text.charCodeAt(0) !== 48) {
    const factor = plainSuffixes.get(text.slice(at));
    if (factor !== undefined && value % factor !== 0) return text; // no larger suffix fits
  }
  return formatQuantity(parseQuantity(text));
}

export const quantityOf = (
  value: number | bigint,
  scale = 0,
  format: QuantityFormat = "DecimalSI",
): Quantity => ({ value: BigInt(value), scale, format });

/** Returns the amount in units of 10^`scale`, rounded away from zero. */
export function scaledValue({ value, scale: own }: Quantity, scale: number): bigint {
  return own >= scale ? value * 10n ** BigInt(own - scale) : divideUp(value, scale - own);
}
export const quantityValue = (quantity: Quantity): number => Number(scaledValue(quantity, 0));
export const quantityMilliValue = (quantity: Quantity): number => Number(scaledValue(quantity, -3));

/** Reports whether the quantity is a whole number, judged by its thousandths truncated to 64 bits. */
export function isWholeQuantity(quantity: Quantity): boolean {
  const milli = scaledValue(quantity, -3);
  return (quantity.large ? BigInt.asIntN(64, milli) : milli) % 1000n === 0n;
}

const aligned = (a: Quantity, b: Quantity): [bigint, bigint, number] => {
  const scale = Math.min(a.scale, b.scale);
  return [scaledValue(a, scale), scaledValue(b, scale), scale];
};

/** Returns the sum, in the format of `a` (of `b` if `a` is zero). */
export function addQuantity(a: Quantity, b: Quantity): Quantity {
  const [left, right, scale] = aligned(a, b);
  return { value: left + right, scale, format: a.value === 0n ? b.format : a.format };
}
const negateQuantity = ({ value, scale, format }: Quantity): Quantity => ({ value: -value, scale, format });
export const subtractQuantity = (a: Quantity, b: Quantity): Quantity => addQuantity(a, negateQuantity(b));

/** Returns a negative number, zero or a positive number if `a` is less than, equal to or greater than `b`. */
export function compareQuantity(a: Quantity, b: Quantity): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}
