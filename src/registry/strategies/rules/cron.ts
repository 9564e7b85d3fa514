// Cron schedules: fields for minute, hour, day, month and weekday, or a descriptor such as @daily.
import { parseDuration } from "#base";

interface Bounds {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words?: readonly string[];
}

const fields: readonly Bounds[] = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of month", least: 1, most: 31 },
  {
    name: "month",
    least: 1,
    most: 12,
    words: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { name: "day of week", least: 0, most: 6, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Returns why a text is not a valid schedule, or undefined. */
export function scheduleProblem(text: string): string | undefined {
  let rest = text;
  const zone = /^(?:CRON_TZ|TZ)=([^ ]*)( .*)?$/.exec(text);
  if (zone) {
    if (zone[2] === undefined || !isTimeZone(zone[1]!)) return `unknown time zone ${zone[1]}`;
    rest = zone[2].trim();
  }
  if (rest.startsWith("@")) return descriptorProblem(rest);
  const parts = rest.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== fields.length)
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(" ")}]`;
  return fields
    .map((bounds, position) => fieldProblem(parts[position]!, bounds))
    .find((problem) => problem !== undefined);
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined;
  if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice("@every ".length));
    return undefined;
  } catch (error) {
    return `failed to parse duration: ${(error as Error).message}`;
  }
}

const fieldProblem = (text: string, bounds: Bounds): string | undefined =>
  text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => rangeProblem(part, bounds))
    .find((problem) => problem !== undefined);

function rangeProblem(text: string, { name, least, most, words }: Bounds): string | undefined {
  const [range = "", step, ...tooManySteps] = text.split("/");
  const [low = "", high, ...tooManyEnds] = range.split("-");
  if (tooManySteps.length > 0) return `too many slashes: ${text}`;
  if (tooManyEnds.length > 0) return `too many hyphens: ${text}`;
  if (step !== undefined && (!/^\d+$/.test(step) || Number(step) === 0))
    return `step of ${name} must be a positive number: ${text}`;
  const number = (part: string): number | undefined => {
    const word = words?.indexOf(part.toLowerCase()) ?? -1;
    return word >= 0 ? word + least : /^\d+$/.test(part) ? Number(part) : undefined;
  };
  const all = low === "*" || low === "?";
  const start = all ? least : number(low);
  const end = all ? most : high === undefined ? (step === undefined ? start : most) : number(high);
  if (start === undefined || end === undefined) return `failed to parse ${name}: ${text}`;
  if (start < least) return `beginning of range (${start}) below minimum (${least}): ${text}`;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${text}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${text}` : undefined;
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
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
