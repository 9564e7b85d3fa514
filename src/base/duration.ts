// Durations as text such as "1h30m" or "250ms", held as nanoseconds in a bigint.

export class DurationError extends Error {
  override readonly name = "DurationError";
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const most = (1n << 63n) - 1n;
const quoted = (text: string) => JSON.stringify(text);

/** Parses a duration and returns nanoseconds. */
export function parseDuration(text: string): bigint {
  const wrong = () => new DurationError(`time: invalid duration ${quoted(text)}`);
  const negative = text.startsWith("-");
  let rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  if (rest === "" || rest.length > 200) throw wrong();
  let total = 0n;
  while (rest !== "") {
    const found = /^([0-9]*)(\.([0-9]*))?/.exec(rest)!;
    const whole = found[1]!;
    const fraction = found[3] ?? "";
    if (whole === "" && fraction === "") throw wrong();
    rest = rest.slice(found[0].length);
    const name = /^[^.0-9]*/.exec(rest)![0];
    if (name === "") throw new DurationError(`time: missing unit in duration ${quoted(text)}`);
    const unit = Object.hasOwn(units, name) ? units[name] : undefined;
    if (unit === undefined)
      throw new DurationError(`time: unknown unit ${quoted(name)} in duration ${quoted(text)}`);
    rest = rest.slice(name.length);
    total += BigInt(whole || "0") * unit + (BigInt(fraction || "0") * unit) / 10n ** BigInt(fraction.length);
  }
  if (total > (negative ? most + 1n : most)) throw wrong();
  return negative ? -total : total;
}

/** Formats a duration canonically: "1h0m0s", "1.5s", "250ms", "0s". */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}\u00b5s`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 6)}ms`;
  const seconds = `${decimal(nanoseconds % units["m"]!, 9)}s`;
  const minutes = nanoseconds / units["m"]!;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return fraction ? `${digits.slice(0, -places)}.${fraction}` : digits.slice(0, -places);
}

export const canonicalDuration = (text: string): string => formatDuration(parseDuration(text));
export const durationMillis = (text: string): number => Number(parseDuration(text)) / 1e6;
export const durationOfMillis = (milliseconds: number): string =>
  formatDuration(BigInt(Math.round(milliseconds * 1e6)));
