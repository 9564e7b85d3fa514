// Options common to all programs.

import { type VerboseModule, releases } from "#base";
import { type Dialect, dialects } from "#dialect";
import { featureGates } from "./gates.ts";
import { knownGates } from "./known-gates.ts";
import { option } from "./option.ts";
import {
  type OptionType,
  above,
  bool,
  duration,
  kindOf,
  level,
  oneOf,
  quantity,
  text,
} from "./option-type.ts";
import { Refusal, Unparsable } from "./refusal.ts";

/** `--dialect` is parsed before all other flags; here it is only declared and validated. */
export const dialectOption = (dialect: Dialect) =>
  option({
    flag: "dialect",
    type: oneOf(...Object.values(dialects).map(({ name }) => name)),
    default: dialect.name,
    defaultText: dialects.orch.name,
    doc: "Dialect of the names used in the API, in objects and in files. Recorded at the first start; the dialect of a store cannot be changed.",
  });

export const helpOption = option({
  flag: "help",
  short: "h",
  type: bool,
  default: false,
  doc: "Print this help and exit.",
});

/** The feature gates option, for programs without rules of their own for gates. */
export const gatesOption = (dialect: Dialect) =>
  option({
    flag: "feature-gates",
    type: featureGates(knownGates, dialect),
    default: {},
    doc: "Feature gates as Name=true or Name=false; AllAlpha and AllBeta set a whole stage.",
  });

/** The release whose API and features a program has. */
export const releaseOption = (doc: string) =>
  option({ flag: "release", type: oneOf(...releases), default: "1.27", doc });

const versionType: OptionType<string> = {
  ...oneOf("true", "false", "raw"),
  name: "version[=true]",
  bare: "true",
};
export const versionOption = option({
  flag: "version",
  type: versionType,
  default: "false",
  doc: "Print version information and exit; raw prints it as data.",
});

export const verbosityOption = <C extends { readonly config?: string }>(more: C) =>
  option({
    flag: "v",
    short: "v",
    type: level,
    default: 0,
    doc: "Log verbosity: 0 logs only the most important messages, 4 is for debugging. Errors are always logged.",
    ...more,
  });

/** `pattern=N,…`: file names without their extension. */
export const verboseModules: OptionType<readonly VerboseModule[]> = {
  name: "pattern=N,...",
  parse: (given) =>
    given
      .split(",")
      .filter((part) => part !== "")
      .map((part) => {
        const cut = part.lastIndexOf("=");
        const digits = part.slice(cut + 1);
        if (cut < 1) throw new Unparsable(`${JSON.stringify(part)} does not have the pattern=N format`);
        if (!/^[0-9]{1,9}$/.test(digits))
          throw new Unparsable(
            `parsing verbosity in ${JSON.stringify(part)}: ${Unparsable.of("ParseUint", digits, "invalid syntax").message}`,
          );
        return { pattern: part.slice(0, cut), level: Number(digits) };
      }),
  read: (value) => {
    if (value === null) return [];
    if (!Array.isArray(value)) throw new Refusal(`must be a list, not ${kindOf(value)}`);
    return value.map((item: unknown, i) => {
      const { filePattern, verbosity, ...more } = (item ?? {}) as Record<string, unknown>;
      if (Object.keys(more).length > 0)
        throw new Refusal(
          "unknown field; known are filePattern and verbosity",
          `[${i}].${Object.keys(more)[0]}`,
        );
      if (typeof filePattern !== "string" || filePattern === "")
        throw new Refusal("must be a file pattern", `[${i}].filePattern`);
      return { pattern: filePattern, level: level.read(verbosity ?? 0) };
    });
  },
  write: (modules) =>
    modules.length === 0
      ? undefined
      : modules.map(({ pattern, level: verbosity }) => ({ filePattern: pattern, verbosity })),
  format: (modules) => modules.map(({ pattern, level: verbosity }) => `${pattern}=${verbosity}`).join(","),
};

/** The path of a file to read; empty for none. */
export const file: OptionType<string> = { ...text, name: "file" };
export const directory: OptionType<string> = { ...text, name: "directory" };

export const tlsVersions = ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"] as const;
export const tlsVersion = oneOf("", ...tlsVersions);

/** Only accepts the previous minor version, such as `1.26`. */
export const hiddenMetricsVersion = (previous: string) => (value: string) =>
  value === "" || value === previous ? undefined : `must be ${previous}, the previous minor version`;

/** A quantity of bytes that may also use the suffix K. */
export const bufferSize: OptionType<string> = {
  ...quantity,
  parse: (given) => quantity.parse(given.replace(/K$/, "k")),
  read: (value) => quantity.read(typeof value === "string" ? value.replace(/K$/, "k") : value),
};

/** Log options other than the verbosity, which programs declare with small differences. */
export const logDeclarations = {
  format: {
    flag: "logging-format",
    type: oneOf("text", "json"),
    default: "text",
    gate: "LoggingBetaOptions",
    doc: "Log format: text or json.",
  },
  flushFrequency: {
    flag: "log-flush-frequency",
    type: duration,
    default: 5000,
    check: above(0),
    doc: "Maximum time between log flushes.",
  },
  modules: {
    flag: "vmodule",
    type: verboseModules,
    default: [],
    doc: "Log verbosity per source file, as <pattern>=<level>,…; text format only.",
  },
  splitStream: {
    flag: "log-json-split-stream",
    type: bool,
    default: false,
    gate: "LoggingAlphaOptions",
    doc: "Alpha. In JSON format, write errors to standard error and all other messages to standard output.",
  },
  infoBufferSize: {
    flag: "log-json-info-buffer-size",
    type: bufferSize,
    default: "0",
    defaultText: "0",
    gate: "LoggingAlphaOptions",
    doc: "Alpha. In JSON format with split output streams, size of the buffer for informational messages, such as 512, 1K or 2Ki; 0 disables buffering.",
  },
} as const;

/** Log options other than the verbosity, for programs with feature gates. */
export const logOptions = [
  option(logDeclarations.format),
  option(logDeclarations.flushFrequency),
  option(logDeclarations.modules),
  option(logDeclarations.splitStream),
  option(logDeclarations.infoBufferSize),
] as const;
