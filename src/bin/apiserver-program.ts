// The API server program: reads the flags, starts the server, and runs until a stop is requested.
import { type StartedServer, apiserverOptions, fileProblems, settleApiserver, start } from "#apiserver";
import { type Log, systemClock, versionText } from "#base";
import { chosenDialect } from "#dialect";
import { handleStartupOutput, logFlags, logFrom, problemText, terminalWidth } from "#options";
import { ownMemory, returnMemory } from "./memory-return.ts";
import { exitWithSupervisor, reasonToStop, notifySupervisor } from "./up/channel.ts";

export interface StartedApiserver {
  readonly server: StartedServer;
  readonly log: Log;
}

/** Work that runs alongside the server until the signal aborts. */
export type Companion = (started: StartedApiserver, signal: AbortSignal) => Promise<void>;

export async function runApiserver(argv: readonly string[], companion?: Companion): Promise<number> {
  exitWithSupervisor();
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    process.stderr.write(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const settled = await settleApiserver(dialect, argv);
  const exitCode = handleStartupOutput(apiserverOptions(dialect), settled, {
    version: versionText,
    width: terminalWidth(process.env, process.stdout.columns),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
  if (exitCode !== undefined) return exitCode;
  const problems = fileProblems(settled.values, dialect);
  if (problems.length > 0) {
    process.stderr.write(problemText(apiserverOptions(dialect), problems));
    return 1;
  }
  const log = logFrom(settled.values);
  logFlags(apiserverOptions(dialect), settled.values, log);
  let server;
  try {
    server = await start({
      dialect,
      settings: settled.values,
      gates: settled.gates,
      log,
      onPhase: (phase) => notifySupervisor({ phase }),
    });
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    return 1;
  }
  log.info("serving", { url: server.url, dialect: dialect.name });
  notifySupervisor({ ready: server.url });
  // Makes the launcher save the code compiled during the start.
  process.emit("orch:started" as never);
  const stopping = new AbortController();
  void returnMemory(ownMemory(systemClock), stopping.signal);
  const running = companion?.({ server, log }, stopping.signal);
  log.info("stopping", { reason: await reasonToStop() });
  stopping.abort();
  await running;
  await server.shutDown();
  log.info("stopped");
  log.flush();
  return 0;
}
