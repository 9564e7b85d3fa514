// Timestamps and durations: ranges, text forms, and calendar fields in a time zone.

import { parseDuration, DurationError } from "#base";
import { Duration, Timestamp, evaluationError } from "./values.ts";
import { chargeWalk } from "./walk-limit.ts";

const minSeconds = -62_135_596_800;
const maxSeconds = 253_402_300_799;
const nanosPerSecond = 1_000_000_000n;

export function durationOf(nanos: bigint): Duration {
  if (nanos < -(1n << 63n) || nanos >= 1n << 63n) throw evaluationError("duration overflow");
  return new Duration(nanos);
}

export function timestampOf(seconds: number, nanos: number, offsetMinutes = 0): Timestamp {
  if (seconds < minSeconds || seconds > maxSeconds) throw evaluationError("timestamp overflow");
  return new Timestamp(seconds, nanos, offsetMinutes);
}

export function addTime(time: Timestamp, nanos: bigint): Timestamp {
  const total = BigInt(time.seconds) * nanosPerSecond + BigInt(time.nanos) + nanos;
  const seconds = total / nanosPerSecond - (total % nanosPerSecond < 0n ? 1n : 0n);
  return timestampOf(Number(seconds), Number(total - seconds * nanosPerSecond), time.offsetMinutes);
}

export function sinceTime(left: Timestamp, right: Timestamp): Duration {
  return durationOf(BigInt(left.seconds - right.seconds) * nanosPerSecond + BigInt(left.nanos - right.nanos));
}

export function durationFromText(text: string): Duration | undefined {
  try {
    return new Duration(parseDuration(text));
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Parses an RFC 3339 time; returns undefined if it is invalid. */
export function timestampFromText(text: string): Timestamp | undefined {
  const found = rfc3339.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number);
  const offset = found[8] ? (found[8] === "-" ? -1 : 1) * (Number(found[9]) * 60 + Number(found[10])) : 0;
  if (hour! > 23 || minute! > 59 || second! > 59 || Number(found[9] ?? 0) > 23 || Number(found[10] ?? 0) > 59)
    return undefined;
  const seconds = secondsOfDate(year!, month!, day!);
  if (seconds === undefined) return undefined;
  const nanos = Number((found[7] ?? "").slice(0, 9).padEnd(9, "0"));
  const total = seconds + hour! * 3600 + minute! * 60 + second! - offset * 60;
  return timestampOf(total, nanos, offset);
}

/** Returns midnight of a date in seconds; undefined if the date does not exist. */
export function secondsOfDate(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / 1000 : undefined;
}

/** Formats as RFC 3339 with the nanoseconds that are set. */
export function timestampText(time: Timestamp): string {
  const date = new Date((time.seconds + time.offsetMinutes * 60) * 1000).toISOString().slice(0, 19);
  const fraction = time.nanos === 0 ? "" : `.${String(time.nanos).padStart(9, "0").replace(/0+$/, "")}`;
  return date + fraction + offsetText(time.offsetMinutes);
}

function offsetText(minutes: number): string {
  if (minutes === 0) return "Z";
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/** Returns the calendar fields as a Date whose UTC fields are those of the zone. */
export function calendar(time: Timestamp, zone: string | undefined): Date {
  return new Date((time.seconds + (zone === undefined ? 0 : zoneOffsetSeconds(time, zone))) * 1000);
}

const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 64;
/** Formatting a time, and loading a time zone, take as long as visiting so many values. */
const formatCost = 100;
const loadCost = 1000;

function zoneOffsetSeconds(time: Timestamp, zone: string): number {
  if (zone === "" || zone === "UTC") return 0;
  const fixed = /^([+-]?)(\d{1,2}):(\d{1,2})$/.exec(zone);
  if (fixed) {
    const seconds = Number(fixed[2]) * 3600 + Number(fixed[3]) * 60;
    return fixed[1] === "-" ? -seconds : seconds;
  }
  if (zone.includes(":"))
    throw evaluationError(`strconv.Atoi: parsing ${JSON.stringify(zone)}: invalid syntax`);
  const format = formatOf(zone);
  chargeWalk(formatCost);
  const parts = new Map(format.formatToParts(time.seconds * 1000).map((part) => [part.type, part.value]));
  const field = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const local = secondsOfDate(field("year"), field("month"), field("day"))!;
  return local + field("hour") * 3600 + field("minute") * 60 + field("second") - time.seconds;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  if (/^[+-]/.test(zone)) throw evaluationError(`unknown time zone ${zone}`);
  chargeWalk(loadCost);
  try {
    const format = new Intl.DateTimeFormat("en-u-ca-iso8601", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (formats.size >= maxFormats) formats.clear();
    formats.set(zone, format);
    return format;
  } catch {
    throw evaluationError(`unknown time zone ${zone}`);
  }
}
