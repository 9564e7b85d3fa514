// Output for the operator: wrong settings, and the origin of each value.

import type { Log } from "#base";
import { helpText } from "./help.ts";
import type { OptionSet } from "./option.ts";
import type { Provenance, Settled } from "./settle.ts";

/** Formats errors, one line each starting with `Error:`, and a closing line. */
export function problemText(set: OptionSet, errors: readonly string[], outcome = "did not start"): string {
  const count = errors.length === 1 ? "one setting is" : `${errors.length} settings are`;
  return `${errors.map((line) => `Error: ${line}\n`).join("")}${set.program} ${outcome}: ${count} wrong (see ${set.program} --help)\n`;
}

export interface StartupOutput {
  readonly version: string;
  readonly width: number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Handles help, version and wrong settings. Returns the exit code, or undefined to continue. */
export function handleStartupOutput(
  set: OptionSet,
  settled: Settled<object>,
  { version, width, out, err }: StartupOutput,
): number | undefined {
  if (settled.requested === "help") out(helpText(set, { width }));
  if (settled.requested === "version") out(`${version}\n`);
  if (settled.requested) return 0;
  for (const warning of settled.warnings) err(`${warning}\n`);
  if (settled.errors.length === 0) return undefined;
  err(problemText(set, settled.errors));
  return 1;
}

/** `default`, `file config.yaml:12`, `flag --max-pods`. */
function provenanceText(source: Provenance): string {
  switch (source.from) {
    case "default":
    case "legacy default":
      return source.from;
    case "derived":
      return `taken from ${source.of}`;
    case "file":
      return `file ${source.file}:${source.line}`;
    case "flag":
      return `flag ${source.spelled}`;
  }
}

/** Lists every setting with its value and origin, one per line. */
export function settledTable(set: OptionSet, settled: Settled<Readonly<Record<string, unknown>>>): string {
  const rows = set.sections
    .flatMap(({ options }) => options)
    .filter(({ name }) => name !== "help" && name !== "version")
    .map(
      (option) =>
        [
          option.flag ? `--${option.flag}` : option.config!,
          option.type.format(settled.values[option.name]),
          provenanceText(settled.provenance[option.name]!),
        ] as const,
    );
  const widths = [0, 1].map((column) => Math.min(60, Math.max(...rows.map((row) => row[column]!.length))));
  return rows
    .map(([name, value, source]) => `${name.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${source}\n`)
    .join("");
}

/** Logs every flag with its value, one line each, as kube-apiserver does at startup (from -v=1 on). */
export function logFlags(
  set: OptionSet,
  values: Readonly<Record<string, unknown>>,
  log: Pick<Log, "enabled" | "verbose">,
): void {
  if (!log.enabled(1)) return;
  for (const [flag, value] of flagValues(set, values))
    log.verbose(1, `FLAG: --${flag}=${JSON.stringify(value)}`);
}

/** Returns the flags in the dialect's spelling, with their values as text. */
export function flagValues(
  set: OptionSet,
  values: Readonly<Record<string, unknown>>,
): (readonly [flag: string, value: string])[] {
  const { flag: spelled } = set.dialect.spelling;
  return set.sections
    .flatMap(({ options }) => options)
    .flatMap(({ flag, name, type }) =>
      flag && name !== "help" && name !== "version"
        ? [[spelled(flag), type.format(values[name])] as const]
        : [],
    );
}
