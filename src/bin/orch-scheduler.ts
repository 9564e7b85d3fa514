// The scheduler's program: read the flags, start, run until told to stop.
import { versionText } from "#apiserver";
import { createLog, logSink, systemClock } from "#base";
import { clusterView } from "#controllerkit";
import { chosenDialect } from "#dialect";
import { answerOperator, settle, terminalWidth } from "#options";
import { profileFrom, runScheduler } from "#scheduler";
import { schedulerOptions } from "./control/control-options.ts";
import { runProgram } from "./control/run-program.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const err = (text: string): void => void process.stderr.write(text);
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const options = schedulerOptions(dialect);
  const settled = settle(options, argv);
  const answered = answerOperator(options, settled, {
    version: versionText(),
    width: terminalWidth(process.env, process.stdout.columns),
    out: (text) => void process.stdout.write(text),
    err,
  });
  if (answered !== undefined) return answered;
  const { values } = settled;
  if (values.orchconfig === "") {
    err(`error: --${dialect.spelling.flag("orchconfig")} names the client configuration and is needed\n`);
    return 1;
  }
  const log = createLog({ verbosity: values.v, sink: logSink({ descriptor: 2 }) });
  try {
    const { schedulerName, disabledPlugins: disabled } = values;
    const profiles = [profileFrom({ schedulerName, disabled })];
    return await runProgram(dialect, values, log, async ({ client, metrics, signal }) => {
      const shared = { client, clock: systemClock, signal, log };
      const view = clusterView(shared);
      await runScheduler({ ...shared, view, dialect, metrics, profiles });
    });
  } catch (error) {
    err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}
