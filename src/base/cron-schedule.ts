// Cron schedules: five fields with names, steps and ranges, shorthands, and time zones. As in kube-apiserver,
// validation and controller share the parser, so that every accepted schedule has the meaning it seems to have.

import { parseDuration } from "./duration.ts";

export interface CronSchedule {
  /** Returns the first time after this one in milliseconds; undefined if no time within five years matches. */
  next(after: number): number | undefined;
  /** The period of `@every`, whose times have no other anchor than the time before. */
  readonly periodMilliseconds?: number;
}

/** A text that is not a valid schedule, with the reason. */
export class CronError extends Error {
  override readonly name = "CronError";
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const days = "sun mon tue wed thu fri sat".split(" ");
const shorthands: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

interface Field {
  readonly values: ReadonlySet<number>;
  readonly isStar: boolean;
}

function parseField(text: string, low: number, high: number, names: readonly string[], first: number): Field {
  const values = new Set<number>();
  let isStar = false;
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    return named >= 0 ? named + first : parseNumber(word);
  };
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [range = "", stepText, ...steps] = part.split("/");
    const [lowText = "", highText, ...ends] = range.split("-");
    const isAll = lowText === "*" || lowText === "?";
    let [from, to] = [low, high];
    if (!isAll) {
      from = to = numberOf(lowText);
      if (ends.length > 0) throw new CronError(`too many hyphens: ${part}`);
      if (highText !== undefined) to = numberOf(highText);
    }
    if (steps.length > 0) throw new CronError(`too many slashes: ${part}`);
    const step = stepText === undefined ? 1 : parseNumber(stepText);
    if (stepText !== undefined && highText === undefined) to = high;
    if (isAll) isStar ||= step === 1;
    if (from < low) throw new CronError(`beginning of range (${from}) below minimum (${low}): ${part}`);
    if (to > high) throw new CronError(`end of range (${to}) above maximum (${high}): ${part}`);
    if (from > to) throw new CronError(`beginning of range (${from}) beyond end of range (${to}): ${part}`);
    if (step === 0) throw new CronError(`step of range should be a positive number: ${part}`);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return { values, isStar };
}

function parseNumber(text: string): number {
  const refuse = (why: string): CronError =>
    new CronError(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[-+]?[0-9]+$/.test(text)) throw refuse("invalid syntax");
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63) throw refuse("value out of range");
  if (value < 0) throw new CronError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

/** Parses a schedule; times are in the local time zone if neither the text nor the caller gives one. */
export function parseCron(text: string, timeZone?: string): CronSchedule {
  const withZone = /^(?:CRON_TZ|TZ)=([^ ]*)(.*)$/s.exec(text);
  if (!withZone) return parseInZone(text, offsets(timeZone));
  const zone = withZone[1]!;
  let offsetAt: OffsetAt;
  try {
    offsetAt = offsets(zone === "" ? "UTC" : zone);
  } catch (error) {
    throw new CronError(`provided bad location ${zone}: ${(error as Error).message}`);
  }
  return parseInZone(withZone[2]!.trim(), offsetAt);
}

function parseInZone(text: string, offsetAt: OffsetAt): CronSchedule {
  if (text.startsWith("@every ")) return everyPeriod(text);
  const shorthand = shorthands.get(text);
  if (text.startsWith("@") && shorthand === undefined)
    throw new CronError(`unrecognized descriptor: ${text}`);
  const fields = (shorthand ?? text).split(/\s+/).filter((each) => each !== "");
  if (fields.length !== 5)
    throw new CronError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  const minute = parseField(fields[0]!, 0, 59, [], 0);
  const hour = parseField(fields[1]!, 0, 23, [], 0);
  const date = parseField(fields[2]!, 1, 31, [], 0);
  const month = parseField(fields[3]!, 1, 12, months, 1);
  const weekday = parseField(fields[4]!, 0, 6, days, 0);
  // A field of commas only is valid. The search would try every minute of five years.
  if ([minute, hour, month].some(({ values }) => values.size === 0)) return { next: () => undefined };
  const fitsDay = (wall: Date): boolean => {
    const [byDate, byWeekday] = [date.values.has(wall.getUTCDate()), weekday.values.has(wall.getUTCDay())];
    // If both day fields are restricted, matching either one suffices.
    return date.isStar || weekday.isStar ? byDate && byWeekday : byDate || byWeekday;
  };
  /** Returns the first matching wall-clock time after this one, both represented as if they were UTC. */
  const nextWall = (after: number): number | undefined => {
    const wall = new Date(Math.floor(after / 60_000) * 60_000 + 60_000);
    const limit = wall.getUTCFullYear() + 5;
    while (wall.getUTCFullYear() <= limit) {
      if (!month.values.has(wall.getUTCMonth() + 1))
        wall.setTime(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1));
      else if (!fitsDay(wall))
        wall.setTime(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate() + 1));
      else if (!hour.values.has(wall.getUTCHours())) wall.setUTCHours(wall.getUTCHours() + 1, 0);
      else if (!minute.values.has(wall.getUTCMinutes())) wall.setUTCMinutes(wall.getUTCMinutes() + 1);
      else return wall.getTime();
    }
    return undefined;
  };
  /** Returns when a wall-clock time occurs: twice when clocks are set back over it, never when set forward. */
  const occurrences = (wall: number, offset: number): number[] =>
    [wall - offset - changeMilliseconds, wall - offset + changeMilliseconds]
      .map((near) => wall - offsetAt(near))
      .filter((at) => at + offsetAt(at) === wall);
  /** Returns the first matching time after this one, searching wall-clock times from those of an offset on. */
  const nextWith = (after: number, offset: number): number | undefined => {
    for (let wall = nextWall(after + offset); wall !== undefined; wall = nextWall(wall)) {
      const found = occurrences(wall, offset).filter((at) => at > after);
      if (found.length > 0) return Math.min(...found);
    }
    return undefined;
  };
  return {
    next: (after) => {
      // If clocks are about to be set back, earlier wall-clock times occur again.
      const found = [...new Set([offsetAt(after), offsetAt(after + changeMilliseconds)])].flatMap(
        (offset) => nextWith(after, offset) ?? [],
      );
      return found.length > 0 ? Math.min(...found) : undefined;
    },
  };
}

/** Longer than clocks are ever set forward or back at once. */
const changeMilliseconds = 3 * 3_600_000;

/** Parses `@every 1h30m`; periods are whole seconds. */
function everyPeriod(text: string): CronSchedule {
  let nanoseconds: bigint;
  try {
    nanoseconds = parseDuration(text.slice("@every ".length));
  } catch (error) {
    throw new CronError(`failed to parse duration ${text}: ${(error as Error).message}`);
  }
  const period = Math.max(1000, Number(nanoseconds / 1_000_000_000n) * 1000);
  return { next: (after) => Math.floor(after / 1000) * 1000 + period, periodMilliseconds: period };
}

type OffsetAt = (at: number) => number;

/** Formats a time in RFC 3339, in a time zone; seconds are the smallest unit. */
export function timeInZone(at: number, timeZone: string): string {
  const offset = offsets(timeZone)(at);
  const local = new Date(at + offset).toISOString().slice(0, 19);
  const minutes = Math.round(Math.abs(offset) / 60_000);
  if (minutes === 0) return `${local}Z`;
  const digits = (value: number): string => String(Math.trunc(value)).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${digits(minutes / 60)}:${digits(minutes % 60)}`;
}

/** Returns the time zone's offset from UTC in milliseconds. */
function offsets(timeZone: string | undefined): OffsetAt {
  if (timeZone === undefined || timeZone === "Local")
    return (at) => -new Date(at).getTimezoneOffset() * 60_000;
  if (timeZone === "UTC") return () => 0;
  if (!isTimeZone(timeZone)) throw new CronError(`unknown time zone ${timeZone}`);
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
  };
}

/** Reports whether a text names a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  const parts = name.split("/");
  if (
    parts.some(
      (part) =>
        part === "." || part === ".." || part.startsWith("-") || !/^[A-Za-z.\-_0-9+]{1,14}$/.test(part),
    ) ||
    /^[+-]/.test(name)
  )
    return false;
  try {
    const known = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
    return known.toLowerCase() === name.toLowerCase() ? known === name : parts.every(isCapitalized);
  } catch {
    return false;
  }
}

/**
 * Names are files of the time zone database, so that case matters; the runtime ignores it and knows the
 * spelling of the names that are not aliases only.
 */
const isCapitalized = (part: string): boolean => /^[A-Z]/.test(part) && !/^[A-Z_]{4,}$/.test(part);
