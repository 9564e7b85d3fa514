// The type of an option: how its value is parsed from a flag and from a configuration file, and how it is
// formatted.

import { durationMillis, durationOfMillis, parseQuantity } from "#base";
import { Refusal, Unparsable } from "./refusal.ts";

export interface OptionType<T> {
  /** Shown after the flag in the help text. */
  readonly name: string;
  /** The value of a flag given without one, for types that permit it. */
  readonly bare?: string;
  /** Parses a flag's value; throws a Refusal that says what is allowed. */
  parse(text: string): T;
  /** For flags that may be repeated: `before` is the value of the earlier ones. */
  append?(before: T, text: string): T;
  /** Reads a value of a configuration file. */
  read(value: unknown): T;
  /** Returns the value for a configuration file; undefined omits the field. */
  write(value: T): unknown;
  /** Formats the value as for a flag. */
  format(value: T): string;
  /** Merges a later value into an earlier one instead of replacing it (maps, feature gates). */
  merge?(below: T, above: T): T;
}

/** Returns an error message for an invalid value, otherwise undefined. */
export type ValueCheck<T> = (value: T) => string | undefined;

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "a mapping"
        : `the ${typeof value} ${JSON.stringify(value)}`;

export const text: OptionType<string> = {
  name: "string",
  parse: (given) => given,
  read: (value) => {
    if (typeof value !== "string") throw new Refusal(`must be a string, not ${kindOf(value)}`);
    return value;
  },
  write: (value) => value,
  format: (value) => value,
};

const truths = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((word) => [word, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((word) => [word, false] as const),
]);

export const bool: OptionType<boolean> = {
  name: "",
  bare: "true",
  parse: (given) => {
    const value = truths.get(given);
    if (value === undefined) throw Unparsable.of("ParseBool", given, "invalid syntax");
    return value;
  },
  read: (value) => {
    if (typeof value !== "boolean") throw new Refusal(`must be true or false, not ${kindOf(value)}`);
    return value;
  },
  write: (value) => value,
  format: String,
};

function integer(name: string, least: bigint, most: bigint): OptionType<number> {
  const parser = least === 0n ? "ParseUint" : "ParseInt";
  const fits = (value: bigint): boolean => value >= least && value <= most;
  return {
    name,
    parse: (given) => {
      const found = /^([+-]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[0-9]+)$/.exec(given);
      if (!found || (least === 0n && found[1] !== "")) throw Unparsable.of(parser, given, "invalid syntax");
      const digits = /^0[0-7]+$/.test(found[2]!) ? `0o${found[2]!.slice(1)}` : found[2]!;
      const value = found[1] === "-" ? -BigInt(digits) : BigInt(digits);
      if (!fits(value)) throw Unparsable.of(parser, given, "value out of range");
      return Number(value);
    },
    read: (value) => {
      if (typeof value !== "number" || !Number.isInteger(value))
        throw new Refusal(`must be a whole number, not ${kindOf(value)}`);
      if (!fits(BigInt(value))) throw new Refusal(`must be from ${least} to ${most}`);
      return value;
    },
    write: (value) => value,
    format: String,
  };
}

export const int = integer("int", -(2n ** 53n), 2n ** 53n);
export const int32 = integer("int32", -(2n ** 31n), 2n ** 31n - 1n);
export const uint = integer("uint", 0n, 2n ** 53n);
export const uint32 = integer("uint32", 0n, 2n ** 32n - 1n);
/** An integer flag of Go's flag package, whose errors only say that it could not be parsed. */
export const plainInt: OptionType<number> = {
  ...int,
  parse: (given) => {
    try {
      return int.parse(given);
    } catch (error) {
      const isLarge = (error as Error).message.endsWith("out of range");
      throw new Unparsable(isLarge ? "value out of range" : "parse error");
    }
  },
};
export const level: OptionType<number> = { ...uint32, name: "level" };

export const float: OptionType<number> = {
  name: "float",
  parse: (given) => {
    if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(given))
      throw Unparsable.of("ParseFloat", given, "invalid syntax");
    if (!Number.isFinite(Number(given))) throw Unparsable.of("ParseFloat", given, "value out of range");
    return Number(given);
  },
  read: (value) => {
    if (typeof value !== "number") throw new Refusal(`must be a number, not ${kindOf(value)}`);
    return value;
  },
  write: (value) => value,
  format: String,
};

function millis(given: string): number {
  try {
    return durationMillis(given);
  } catch {
    throw new Refusal("must be a duration such as 300ms, 1m30s or 2h");
  }
}

/** In milliseconds; formatted as text such as `1m30s`. */
export const duration: OptionType<number> = {
  name: "duration",
  parse: (given) => {
    try {
      return durationMillis(given);
    } catch (error) {
      throw new Unparsable((error as Error).message);
    }
  },
  read: (value) => millis(typeof value === "string" ? value : "?"),
  write: (value) => durationOfMillis(value),
  format: (value) => durationOfMillis(value),
};

/** In milliseconds; integer nanoseconds in a file, where text is accepted, too. */
export const nanoseconds: OptionType<number> = {
  ...duration,
  read: (value) =>
    typeof value === "number" && Number.isInteger(value) ? value / 1e6 : duration.read(value),
  write: (value) => Math.round(value * 1e6),
};

/** An amount such as `10Mi`, kept in its original spelling. */
export const quantity: OptionType<string> = {
  name: "quantity",
  parse: (given) => {
    try {
      parseQuantity(given);
      return given;
    } catch (error) {
      throw new Unparsable((error as Error).message);
    }
  },
  read: (value) => {
    if (typeof value !== "string" && typeof value !== "number")
      throw new Refusal(`must be a quantity such as 10Mi, not ${kindOf(value)}`);
    return checkedQuantity(String(value));
  },
  write: (value) => value,
  format: (value) => value,
};

function checkedQuantity(given: string): string {
  try {
    parseQuantity(given);
    return given;
  } catch {
    throw new Refusal("must be a quantity such as 512, 10Mi or 1.5G");
  }
}

export function oneOf<const V extends string>(...allowed: readonly V[]): OptionType<V> {
  const pick = (given: unknown): V => {
    if (!allowed.includes(given as V))
      throw new Refusal(`must be ${listed(allowed.map((value) => value || '""'))}`);
    return given as V;
  };
  return { ...text, parse: pick, read: pick } as OptionType<V>;
}

/** A value that may be absent. */
export const maybe = <T>(type: OptionType<T>): OptionType<T | undefined> => ({
  name: type.name,
  ...(type.bare !== undefined && { bare: type.bare }),
  parse: type.parse,
  read: (value) => (value === null ? undefined : type.read(value)),
  write: (value) => (value === undefined ? undefined : type.write(value)),
  format: (value) => (value === undefined ? "" : type.format(value)),
});

/** Joins items: `a`, `a or b`, `a, b or c`. */
export const listed = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;

export const between =
  (least: number, most: number): ValueCheck<number> =>
  (value) =>
    value < least || value > most ? `must be from ${least} to ${most}` : undefined;
export const atLeast =
  (least: number): ValueCheck<number> =>
  (value) =>
    value < least ? `must not be below ${least}` : undefined;
export const above =
  (bound: number): ValueCheck<number> =>
  (value) =>
    value <= bound ? `must be above ${bound}` : undefined;
/** Rejects negative values. */
export const notNegative: ValueCheck<number> = (value) => (value < 0 ? "must not be negative" : undefined);
export const each =
  <T>(check: ValueCheck<T>): ValueCheck<readonly T[]> =>
  (values) => {
    for (const value of values) {
      const wrong = check(value);
      if (wrong) return `${JSON.stringify(value)} ${wrong}`;
    }
    return undefined;
  };
export { kindOf };
