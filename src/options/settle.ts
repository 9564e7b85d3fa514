// Evaluates defaults, configuration files and flags in one pass: every option gets a value and its origin.
// All errors are reported at once.

import { accessSync, constants, existsSync } from "node:fs";
import { minorOf } from "#base";
import type { ConfigFile } from "./config-file.ts";
import { type Gates, type GivenGates, resolveGates, stageGates } from "./gates.ts";
import { type GrammarProblem, parseArguments } from "./grammar.ts";
import { hint } from "./nearest.ts";
import type { AnyOption, OptionSet, SettingsOf } from "./option.ts";
import { Refusal, Unparsable } from "./refusal.ts";
import { readValues } from "./settle-file.ts";

export type Provenance =
  | { readonly from: "default" }
  | { readonly from: "legacy default" }
  | { readonly from: "derived"; readonly of: string }
  | { readonly from: "file"; readonly file: string; readonly line: number; readonly path: string }
  | { readonly from: "flag"; readonly spelled: string; readonly text: string };

export interface Settled<S> {
  readonly values: S;
  readonly provenance: Readonly<Record<keyof S & string, Provenance>>;
  readonly gates: Gates;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  /** Arguments other than flags, for commands that accept them. */
  readonly args: readonly string[];
  /** Set if help or the version was requested. */
  readonly requested?: "help" | "version";
}

export interface Sources {
  /** Later files take precedence over earlier ones. */
  readonly files?: readonly ConfigFile[];
  readonly readable?: (path: string) => boolean;
  /**
   * "start" starts a program. "check" validates a configuration, possibly for another machine, so that
   * missing files and flags are not errors. "look" only displays it: features that are not available
   * cause warnings, too.
   */
  readonly purpose?: "start" | "check" | "look";
}

export function settle<O extends AnyOption>(
  set: OptionSet<O>,
  argv: readonly string[],
  sources: Sources = {},
): Settled<SettingsOf<O>> {
  const all = set.sections.flatMap(({ options }) => options as readonly AnyOption[]);
  const values: Record<string, unknown> = {};
  const provenance: Record<string, Provenance> = {};
  const failed = new Set<string>();
  const warnings: string[] = [];
  const errors: string[] = [];
  const args: string[] = [];
  const files = sources.files ?? [];
  const readable = sources.readable ?? isReadable;
  const { purpose = "start" } = sources;
  const starting = purpose === "start";
  let gates = noGates;

  for (const option of all) {
    const legacy = files.length === 0 && option.legacyDefault !== undefined;
    values[option.name] = legacy ? option.legacyDefault : option.default;
    provenance[option.name] = { from: legacy ? "legacy default" : "default" };
  }
  const isSet = (name: string): boolean =>
    provenance[name]?.from === "file" || provenance[name]?.from === "flag";

  for (const file of files) {
    const reading = readValues(set, file);
    errors.push(...reading.problems);
    if (starting && set.ignoresStrictErrors)
      warnings.push(...reading.strictErrors.map((error) => `${error}; it is passed over`));
    else errors.push(...reading.strictErrors);
    for (const option of reading.failed) failed.add(option.name);
    for (const { option, value, line, path } of reading.values) {
      values[option.name] =
        option.type.merge && isSet(option.name) ? option.type.merge(values[option.name], value) : value;
      provenance[option.name] = { from: "file", file: file.path, line, path };
    }
  }

  const requested = applyFlags();
  if (requested) return done();
  for (const option of all) {
    const derived =
      isSet(option.name) || failed.has(option.name)
        ? undefined
        : option.derive?.({ value: (name) => values[name], isSet });
    if (derived) {
      values[option.name] = derived.value;
      provenance[option.name] = { from: "derived", of: derived.from };
    }
  }
  if (set.gates && !failed.has("featureGates")) {
    const release = values["release"] as string | undefined;
    const given = (values["featureGates"] ?? {}) as GivenGates;
    gates = resolveGates(set.gates, given, release === undefined ? undefined : minorOf(release));
    const idle = ineffectiveGates(set, given);
    if (idle.length > 0)
      warnings.push(
        `${where("featureGates")}: known, but of no effect: ${idle.map((name) => set.dialect.spelling.word(name)).join(", ")}`,
      );
  }
  for (const option of all) {
    if (!failed.has(option.name)) checkOne(option);
  }
  // If a file could not be parsed, its settings are unknown, so that settings cannot be checked together.
  if (files.every(({ root }) => root !== undefined)) for (const check of set.checks) runCheck(check);
  return done();

  function done(): Settled<SettingsOf<O>> {
    return {
      values: values as SettingsOf<O>,
      provenance: provenance as Settled<SettingsOf<O>>["provenance"],
      gates,
      warnings: [...new Set(warnings)],
      errors: [...new Set(errors)],
      args,
      ...(requested && { requested }),
    };
  }

  function applyFlags(): "help" | "version" | undefined {
    const names = flagNames(set);
    const { given, problems } = parseArguments(argv, {
      resolve: (spelled) => names.get(spelled)?.flag,
      short: (letter) => all.find((option) => option.short === letter)?.flag,
      bare: (flag) => names.get(flag)!.type.bare,
    });
    let requested: "help" | "version" | undefined;
    const seen = new Set<string>();
    for (const { flag, spelled, text } of given) {
      const option = names.get(flag)!;
      if (option.deprecated !== undefined && !seen.has(flag))
        warnings.push(`Flag ${spelled} has been deprecated, ${option.deprecated}`);
      try {
        const again = seen.has(flag);
        seen.add(flag);
        const value =
          again && option.type.append
            ? option.type.append(values[option.name], text)
            : option.type.parse(text);
        const meant = option.fromFlag ? option.fromFlag(value) : value;
        const below = values[option.name];
        values[option.name] =
          !again && option.type.merge && isSet(option.name) ? option.type.merge(below, meant) : meant;
        provenance[option.name] = {
          from: "flag",
          spelled,
          text: again ? option.type.format(values[option.name]) : text,
        };
        if (option.name === "help" && value === true) requested = "help";
        if (option.name === "version" && value !== "false" && requested !== "help") requested = "version";
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failed.add(option.name);
        errors.push(
          error instanceof Unparsable
            ? `invalid argument ${JSON.stringify(text)} for ${JSON.stringify(shownFlag(set, option, spelled))} flag: ${error.message}`
            : `${spelled}=${clip(text)}${fieldText(set, option)}: ${error.message}`,
        );
      }
    }
    for (const problem of problems) {
      if (problem.wrong === "not a flag") args.push(problem.spelled);
      else errors.push(grammarText(problem, names, set.retired ?? {}));
    }
    // Empty arguments are ignored: scripts pass empty variables.
    if (args.some((word) => word !== "") && !set.takesArguments)
      errors.push(
        `${JSON.stringify(set.program)} does not take any arguments, got [${args.map((word) => JSON.stringify(word)).join(" ")}]`,
      );
    return requested;
  }

  function checkOne(option: AnyOption): void {
    const value = values[option.name];
    const report = (message: string): void => {
      failed.add(option.name);
      errors.push(`${where(option.name)}: ${message}`);
    };
    const wrong = option.check?.(value);
    if (wrong) return report(wrong);
    if (!isSet(option.name)) return;
    const text = option.type.format(value);
    const changed =
      text !== option.type.format(option.default) &&
      (option.legacyDefault === undefined || text !== option.type.format(option.legacyDefault));
    if (changed && option.gate && !gates.enabled(option.gate))
      return report(`needs the feature gate ${set.dialect.spelling.word(option.gate)}`);
    const reportMissing = starting
      ? report
      : (message: string): void => void warnings.push(`${where(option.name)}: ${message}`);
    const unavailable = changed ? (option.unavailable ?? option.unavailableFor?.(value)) : undefined;
    // The value itself is valid, so its other errors are reported, too.
    if (unavailable !== undefined)
      return void (purpose === "look" ? warnings : errors).push(
        `${where(option.name)}: cannot be used: ${unavailable}`,
      );
    if (changed && option.idle !== undefined)
      warnings.push(`${where(option.name)}: has no effect: ${option.idle}`);
    if (option.readable) {
      for (const path of [value].flat() as string[]) {
        if (path !== "" && !readable(path))
          reportMissing(
            `open ${path}: ${existsSync(path) ? "permission denied" : "no such file or directory"}`,
          );
      }
    }
  }

  function runCheck(check: OptionSet<O>["checks"][number]): void {
    // A check that reads a setting which is already invalid is skipped.
    const guarded = new Proxy(values, {
      get: (target, name: string) => {
        if (failed.has(name)) throw new Unusable();
        return target[name];
      },
    });
    try {
      check.run(
        guarded as SettingsOf<O>,
        (names, message) =>
          void (check.startOnly && !starting ? warnings : errors).push(
            `${names.map(where).join(", ")}: ${message}`,
          ),
        {
          dialect: set.dialect,
          enabled: (gate) => gates.enabled(gate),
          isSet,
          isReadable: readable,
          warn: (message) => void warnings.push(message),
        },
      );
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
    }
  }

  /** Names a setting by its origin: flag and value, or file, line and path. */
  function where(name: string): string {
    const option = all.find((candidate) => candidate.name === name)!;
    const source = provenance[name]!;
    if (source.from === "file")
      return `${source.file}:${source.line}: ${source.path}: ${clip(JSON.stringify(option.type.write(values[name])))}`;
    if (source.from === "flag") return `${source.spelled}=${clip(source.text)}${fieldText(set, option)}`;
    return option.flag
      ? `--${set.dialect.spelling.flag(option.flag)}${fieldText(set, option)}`
      : set.dialect.spelling.field(option.config!);
  }
}

class Unusable extends Error {}

const noGates: Gates = { enabled: () => false, all: () => new Map() };
const clip = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns gates set to a value other than their default that have no effect. */
function ineffectiveGates(set: OptionSet, given: GivenGates): string[] {
  const changed = set.gates!.filter(
    (gate) => given[gate.name] !== undefined && given[gate.name] !== gate.default,
  );
  // Determining the gates with an effect takes a tenth of the startup time of some programs.
  if (changed.length === 0) return [];
  const effective = new Set([
    ...(set.effectiveGates?.() ?? []),
    ...stageGates.map(({ name }) => name),
    ...set.sections.flatMap(({ options }) => options.map(({ gate }) => gate)),
  ]);
  return changed.map(({ name }) => name).filter((name) => !effective.has(name));
}

/** Returns every spelling of every flag. */
function flagNames(set: OptionSet): ReadonlyMap<string, AnyOption & { readonly flag: string }> {
  const names = new Map<string, AnyOption & { readonly flag: string }>();
  for (const { options } of set.sections) {
    for (const option of options) {
      if (!option.flag) continue;
      const flagged = option as AnyOption & { readonly flag: string };
      for (const spelled of [option.flag, set.dialect.spelling.flag(option.flag), ...(option.aliases ?? [])])
        names.set(spelled, flagged);
    }
  }
  return names;
}

function grammarText(
  problem: Exclude<GrammarProblem, { readonly wrong: "not a flag" }>,
  names: ReadonlyMap<string, AnyOption>,
  retired: Readonly<Record<string, string>>,
): string {
  const { spelled } = problem;
  const name = spelled.replace(/^-+/, "");
  const letter = "letter" in problem && problem.letter !== undefined ? `'${problem.letter}' in ` : "";
  switch (problem.wrong) {
    case "unknown":
      if (letter) return `unknown shorthand flag: ${letter}${spelled}`;
      return Object.hasOwn(retired, name)
        ? `unknown flag: ${spelled}; it is gone: ${retired[name]}`
        : `unknown flag: ${spelled}${hint(name, names.keys(), (flag) => `--${flag}`)}`;
    case "no value":
      return `flag needs an argument: ${letter}${spelled}`;
    case "syntax":
      return `bad flag syntax: ${spelled}`;
  }
}

/** `--secure-port`, or `-v, --v`; by the given name, if a flag has several. */
function shownFlag(set: OptionSet, { flag = "", short }: AnyOption, spelled: string): string {
  const name = spelled.startsWith("--")
    ? spelled.replaceAll("_", "-")
    : `--${set.dialect.spelling.flag(flag)}`;
  return short ? `-${short}, ${name}` : name;
}

/** The field in the configuration file, unless it is derived from the flag. */
const fieldText = (set: OptionSet, { config }: AnyOption): string =>
  config && !set.fieldsFollowFlags ? ` (${set.dialect.spelling.field(config)})` : "";
