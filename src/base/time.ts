// Points in time as RFC 3339 text. A JS Date has millisecond precision; micro times need six digits, so times
// are held as seconds and nanoseconds.

export interface Instant {
  /** Since 1970-01-01T00:00:00Z. */
  readonly seconds: number;
  readonly nanos: number;
}

export class TimeError extends Error {
  override readonly name = "TimeError";
}

/** The year 1: Go's zero time. */
const zeroSeconds = -62_135_596_800;
const timeLayout = "2006-01-02T15:04:05Z07:00";
const microLayout = "2006-01-02T15:04:05.000000Z07:00";

const grammar = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Parses RFC 3339 with any offset and any fraction. */
export function parseTime(text: string): Instant {
  return parseAs(text, timeLayout);
}
/** Parses RFC 3339 with exactly six fractional digits. */
export function parseMicroTime(text: string): Instant {
  return parseAs(text, microLayout);
}

function parseAs(text: string, layout: string): Instant {
  if (looksCanonical(text, 27) || (layout === timeLayout && looksCanonical(text, 20)))
    return readCanonical(text);
  const refuse = (why: string) => new TimeError(`parsing time ${JSON.stringify(text)}${why}`);
  const found = text.length < longest ? grammar.exec(text) : null;
  if (!found || (layout === microLayout && found[7]?.length !== 6))
    throw refuse(layoutError(text.slice(0, longest), layout));
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((group) =>
    Number(found[group]),
  ) as [number, number, number, number, number, number];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month < 1 || month > 12) throw refuse(": month out of range");
  if (day < 1 || day > monthDays[month - 1]! + (leap && month === 2 ? 1 : 0))
    throw refuse(": day out of range");
  if (hour > 23) throw refuse(": hour out of range");
  if (minute > 59) throw refuse(": minute out of range");
  if (second > 59) throw refuse(": second out of range");
  let offset = 0;
  if (found[8]) {
    const [hours, minutes] = [Number(found[9]), Number(found[10])];
    if (hours > 24) throw refuse(": time zone offset hour out of range");
    if (minutes > 60) throw refuse(": time zone offset minute out of range");
    offset = (hours * 60 + minutes) * (found[8] === "-" ? -60 : 60);
  }
  const nanos = found[7] ? Number(found[7].slice(0, 9).padEnd(9, "0")) : 0;
  return { seconds: daysTo(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset, nanos };
}

const longest = 100;
/** The elements of a layout and the patterns they match. */
const parts: readonly (readonly [pattern: RegExp, part: string])[] = [
  [/^\d{4}/, "2006"], [/^-/, "-"], [/^\d\d/, "01"], [/^-/, "-"], [/^\d\d/, "02"], [/^T/, "T"], [/^\d\d?/, "15"], [/^:/, ":"], [/^\d\d/, "04"], [/^:/, ":"], [/^\d\d/, "05"],
]; // prettier-ignore

/** Describes where a text deviates from its layout. */
function layoutError(text: string, layout: string): string {
  const fraction: (typeof parts)[number] =
    layout === microLayout ? [/^[.,]\d{6}/, ".000000"] : [/^(?:[.,]\d+)?/, ""];
  let rest = text;
  for (const [pattern, part] of [...parts, fraction, [/^(?:Z|[+-]\d\d:\d\d)/, "Z07:00"] as const]) {
    const found = pattern.exec(rest);
    if (!found) return ` as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`;
    rest = rest.slice(found[0].length);
  }
  return `: extra text: ${JSON.stringify(rest)}`;
}

function readCanonical(text: string): Instant {
  const number = (at: number) => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
  const seconds =
    daysTo(number(0) * 100 + number(2), number(5), number(8)) * 86_400 +
    number(11) * 3_600 +
    number(14) * 60 +
    number(17);
  return {
    seconds,
    nanos: text.length === 20 ? 0 : (number(20) * 10_000 + number(22) * 100 + number(24)) * 1_000,
  };
}

/** Returns the days from 1970-01-01 to a date; years start in March, so that the leap day is the last. */
function daysTo(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

// Times on the wire cluster, so the last date is cached.
let lastDays = NaN;
let lastDate = "";

function dateOf(days: number): string {
  if (days === lastDays) return lastDate;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const shown = year < 0 ? `-${String(-year).padStart(4, "0")}` : String(year).padStart(4, "0");
  lastDate = `${shown}-${two(month)}-${two(dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1)}T`;
  lastDays = days;
  return lastDate;
}

function clockText(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  return `${dateOf(days)}${two(Math.floor(rest / 3_600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
}

/** "2006-01-02T15:04:05Z". */
export const formatTime = ({ seconds }: Pick<Instant, "seconds">): string => `${clockText(seconds)}Z`;
/** "2006-01-02T15:04:05.000000Z". */
export const formatMicroTime = ({ seconds, nanos }: Instant): string =>
  `${clockText(seconds)}.${String(Math.trunc(nanos / 1_000)).padStart(6, "0")}Z`;

export const isZeroTime = ({ seconds, nanos }: Instant): boolean => seconds === zeroSeconds && nanos === 0;

/** Parses a time and returns its canonical text; null for the zero time. */
export function canonicalTime(text: string): string | null {
  if (looksCanonical(text, 20)) return text;
  const instant = parseTime(text);
  return isZeroTime(instant) ? null : formatTime(instant);
}
/** Go's zero time, which is printed as null. */
export const zeroMicroTime = "0001-01-01T00:00:00.000000Z";

/**
 * Decoding must distinguish a given time from an absent one: as in kube-apiserver, a zero time in a document
 * counts as given, although it is printed as null.
 */
export const microTimeOrZero = (text: string): string => canonicalMicroTime(text) ?? zeroMicroTime;

export function canonicalMicroTime(text: string): string | null {
  if (looksCanonical(text, 27)) return text;
  const instant = parseMicroTime(text);
  return isZeroTime(instant) ? null : formatMicroTime(instant);
}

const pattern = "dddd-dd-ddTdd:dd:dd.ddddddZ";

/** Fast check for UTC times of this millennium with a day up to the 28th; other times take the slow path. */
function looksCanonical(text: string, length: number): boolean {
  if (text.length !== length || text.charCodeAt(length - 1) !== 90) return false;
  for (let i = 0; i < length - 1; i++) {
    const code = text.charCodeAt(i);
    if (pattern.charCodeAt(i) === 100 ? code < 48 || code > 57 : code !== pattern.charCodeAt(i)) return false;
  }
  const number = (at: number) => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
  return (
    text.charCodeAt(0) >= 49 &&
    number(5) >= 1 &&
    number(5) <= 12 &&
    number(8) >= 1 &&
    number(8) <= 28 &&
    number(11) < 24 &&
    number(14) < 60 &&
    number(17) < 60
  );
}

export const timeOfMillis = (milliseconds: number): string =>
  formatTime({ seconds: Math.floor(milliseconds / 1_000) });
export const microTimeOfMillis = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1_000);
  return formatMicroTime({ seconds, nanos: Math.round((milliseconds - seconds * 1_000) * 1e6) });
};
/** Returns the milliseconds since 1970 of a time or micro time. */
export const millisOfTime = (text: string): number => {
  const { seconds, nanos } = parseTime(text);
  return seconds * 1_000 + nanos / 1e6;
};

/** Formats a time with second precision as Go prints it, for human-readable messages. */
export const goTime = (time: Date): string =>
  `${time.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
