// Formats and parses times and durations, and computes the ticks of a time axis.

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

const units: Readonly<Record<string, number>> = { ms: 1, s: second, m: minute, h: hour, d: day };

/** Parses `90s`, `1h30m`, `7d` to milliseconds; returns undefined if it is invalid. */
export function parseSpan(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!]!, 0);
}

/** Formats a duration exactly and in the shortest form: `1h30m`. */
export function formatSpan(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds));
  if (rest === 0) return "0s";
  let text = "";
  for (const [unit, size] of [
    ["d", day],
    ["h", hour],
    ["m", minute],
    ["s", second],
    ["ms", 1],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}

/** Formats a duration roughly, in its largest one or two units: `3m`, `1h 5m`, `2d`. */
export function roughSpan(milliseconds: number): string {
  const span = Math.abs(milliseconds);
  if (span < minute) return `${Math.floor(span / second)}s`;
  if (span < hour) return `${Math.floor(span / minute)}m`;
  if (span < day) {
    const minutes = Math.floor((span % hour) / minute);
    return `${Math.floor(span / hour)}h${minutes && span < 6 * hour ? ` ${minutes}m` : ""}`;
  }
  return `${Math.floor(span / day)}d`;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Formats a time of day: `14:03:27`, optionally with milliseconds. */
export const clockTime = (time: number, withMilliseconds = false): string => {
  const at = new Date(time);
  const text = `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  return withMilliseconds ? `${text}.${pad(at.getMilliseconds(), 3)}` : text;
};
export const dayText = (time: number): string => {
  const at = new Date(time);
  return `${at.getDate()} ${months[at.getMonth()]}`;
};
/** Formats date and time of day. */
export const fullTime = (time: number): string => `${dayText(time)} ${clockTime(time, true)}`;

const steps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28].map((count) => count * day),
];

export interface Tick {
  readonly time: number;
  readonly label: string;
}

/** Returns at most `most` round times in a range. Labels are as precise as the step requires. */
export function ticks(from: number, to: number, most: number): readonly Tick[] {
  const step = steps.find((each) => (to - from) / each <= most) ?? 28 * day;
  const zone = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const found: Tick[] = [];
  for (let time = first; time <= to; time += step) found.push({ time, label: tickLabel(time, step) });
  return found;
}

function tickLabel(time: number, step: number): string {
  const at = new Date(time);
  if (
    step >= day ||
    (at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0 && step >= minute)
  )
    return dayText(time);
  if (step < second) return clockTime(time, true);
  if (step < minute) return clockTime(time);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}`;
}
