// The common frame of commands about a cluster: dialect, flags, help and usage errors; other errors are
// printed in one line.
import { versionText } from "#base";
import type { Dialect } from "#dialect";
import {
  type AnyOption,
  type OptionSet,
  type SettingsOf,
  handleStartupOutput,
  settle,
  terminalWidth,
} from "#options";
import type { Output } from "../output.ts";
import { clusterDialect } from "./cluster-dialect.ts";

export interface Invocation<Settings> {
  readonly dialect: Dialect;
  readonly settings: Settings;
  /** Positional arguments, for commands that take any. */
  readonly words: readonly string[];
}

/** Runs a command; resolves with the exit code. */
export async function clusterCommand<O extends AnyOption>(
  options: (dialect: Dialect) => OptionSet<O>,
  argv: readonly string[],
  output: Output,
  run: (invocation: Invocation<SettingsOf<O>>) => Promise<number>,
): Promise<number> {
  const choice = clusterDialect(argv);
  if ("problem" in choice) {
    output.err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const set = options(dialect);
  const settled = settle(set, argv);
  const width = terminalWidth(process.env, process.stdout.columns);
  const exitCode = handleStartupOutput(set, settled, { version: versionText, width, ...output });
  if (exitCode !== undefined) return exitCode;
  try {
    return await run({ dialect, settings: settled.values, words: settled.args });
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}
