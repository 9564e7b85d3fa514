// Cron schedules: five fields with names, steps and ranges, shorthands, and time zones.

export interface CronSchedule {
  /** Returns the first time after this one in milliseconds; undefined if no time within five years matches. */
  next(after: number): number | undefined;
}

/** A text that is not a valid schedule, with the reason. */
export class CronError extends Error {
  override readonly name = "CronError";
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const days = "sun mon tue wed thu fri sat".split(" ");
const shorthands: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

interface Field {
  readonly values: ReadonlySet<number>;
  readonly isStar: boolean;
}

function parseField(text: string, low: number, high: number, names: readonly string[], first: number): Field {
  const values = new Set<number>();
  let isStar = false;
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    const value = named >= 0 ? named + first : /^\d+$/.test(word) ? Number(word) : NaN;
    if (Number.isNaN(value)) throw new CronError(`failed to parse "${word}" as a number`);
    return value;
  };
  for (const part of text.split(",")) {
    const [range = "", stepText, ...rest] = part.split("/");
    if (rest.length > 0) throw new CronError(`too many slashes: ${part}`);
    const step = stepText === undefined ? 1 : numberOf(stepText);
    if (step < 1) throw new CronError(`step of range should be a positive number: ${part}`);
    let [from, to] = [low, high];
    if (range === "*" || range === "?") isStar ||= step === 1;
    else {
      const ends = range.split("-");
      if (ends.length > 2) throw new CronError(`too many hyphens: ${part}`);
      from = numberOf(ends[0]!);
      to = ends[1] === undefined ? (stepText === undefined ? from : high) : numberOf(ends[1]);
    }
    if (from < low) throw new CronError(`beginning of range (${from}) below minimum (${low}): ${part}`);
    if (to > high) throw new CronError(`end of range (${to}) above maximum (${high}): ${part}`);
    if (from > to) throw new CronError(`beginning of range (${from}) beyond end of range (${to}): ${part}`);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return { values, isStar };
}

/** Parses a schedule; uses the local time zone if none is given. */
export function parseCron(text: string, timeZone?: string): CronSchedule {
  const withZone = /^(?:CRON_TZ|TZ)=(\S+)\s+(.*)$/.exec(text);
  if (withZone) return parseCron(withZone[2]!, withZone[1]);
  const every = /^@every\s+(\S+)$/.exec(text.trim());
  if (every) {
    const period = Math.max(1000, Math.floor(periodOf(every[1]!) / 1000) * 1000);
    return { next: (after) => Math.floor(after / 1000) * 1000 + period };
  }
  const fields = (shorthands[text.trim()] ?? text).trim().split(/\s+/);
  if (fields.length !== 5)
    throw new CronError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  const minute = parseField(fields[0]!, 0, 59, [], 0);
  const hour = parseField(fields[1]!, 0, 23, [], 0);
  const date = parseField(fields[2]!, 1, 31, [], 0);
  const month = parseField(fields[3]!, 1, 12, months, 1);
  const weekday = parseField(fields[4]!, 0, 6, days, 0);
  const offsetAt = offsets(timeZone);
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

function periodOf(text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text)
    throw new CronError(`failed to parse duration @every ${text}`);
  return parts.reduce((total, [, count, unit]) => total + Number(count) * units[unit!]!, 0);
}

/** Returns the time zone's offset from UTC in milliseconds. */
function offsets(timeZone: string | undefined): (at: number) => number {
  if (timeZone === undefined || timeZone === "Local")
    return (at) => -new Date(at).getTimezoneOffset() * 60_000;
  if (timeZone === "UTC") return () => 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    throw new CronError(`unknown time zone ${timeZone}`);
  }
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
  };
}
