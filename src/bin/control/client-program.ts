// The common frame of programs that are clients of the API server: flags, help and error handling.
import { type Log, systemClock, versionText } from "#base";
import { type ClusterView, clusterView } from "#controllerkit";
import { type Dialect, chosenDialect } from "#dialect";
import {
  type AnyOption,
  type Gates,
  type LogSettings,
  type OptionSet,
  type SettingsOf,
  handleStartupOutput,
  logFrom,
  settle,
  terminalWidth,
} from "#options";
import { exitWithSupervisor } from "../up/channel.ts";
import { type ControlRun, type ControlSettings, runProgram } from "./run-program.ts";

export interface ClientProgramParts extends ControlRun {
  readonly dialect: Dialect;
  readonly clock: typeof systemClock;
  readonly log: Log;
  readonly view: ClusterView;
  readonly gates: Gates;
}

export interface ProgramHooks<O extends AnyOption> {
  /** Handles options that replace the work and need no server; returns the exit code. */
  readonly standalone?: (settings: SettingsOf<O>, dialect: Dialect) => Promise<number> | undefined;
  /** Applies a configuration file to the settings. */
  readonly withFile?: (settings: SettingsOf<O>, dialect: Dialect) => SettingsOf<O>;
}

/**
 * Runs a program; resolves with the exit code. `work` is created from the settings first, so that invalid
 * ones fail the start.
 */
export async function clientProgram<O extends AnyOption>(
  argv: readonly string[],
  optionsFor: (dialect: Dialect) => OptionSet<O>,
  workFor: (settings: SettingsOf<O>) => (parts: ClientProgramParts) => Promise<void>,
  { standalone, withFile }: ProgramHooks<O> = {},
): Promise<number> {
  exitWithSupervisor();
  const err = (text: string): void => void process.stderr.write(text);
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const options = optionsFor(dialect);
  const settled = settle(options, argv);
  const exitCode = handleStartupOutput(options, settled, {
    version: versionText,
    width: terminalWidth(process.env, process.stdout.columns),
    out: (text) => void process.stdout.write(text),
    err,
  });
  if (exitCode !== undefined) return exitCode;
  let settings: SettingsOf<O> & ControlSettings & LogSettings;
  try {
    settings = (withFile?.(settled.values, dialect) ?? settled.values) as typeof settings;
  } catch (error) {
    err(`error: ${(error as Error).message}
`);
    return 1;
  }
  const standaloneRun = standalone?.(settings, dialect);
  if (standaloneRun !== undefined) return await standaloneRun;
  if (settings.orchconfig === "") {
    err(
      `error: --${dialect.spelling.flag("orchconfig")} is required: the path of the client configuration\n`,
    );
    return 1;
  }
  const log = logFrom(settings);
  try {
    const work = workFor(settings);
    return await runProgram(
      { component: componentOf(options.program), dialect, enabled: settled.gates.enabled },
      settings,
      log,
      async (run) => {
        const clock = systemClock;
        const view = clusterView({ client: run.client, clock, signal: run.signal, log });
        await work({ ...run, dialect, clock, log, view, gates: settled.gates });
      },
    );
  } catch (error) {
    err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}

/** Returns the component: `orch-scheduler` → `scheduler`. */
const componentOf = (program: string): string => program.slice(program.indexOf("-") + 1);
