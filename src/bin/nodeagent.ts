// The node agent program: reads the settings, starts the agent, and runs until a stop is requested.
import { setFlagsFromString } from "node:v8";
import { releaseVersion, systemClock, versionText } from "#base";
import { chosenDialect } from "#dialect";
import { nodeagentOptions, settleNodeagent, startAgent, writeNodeagentConfig } from "#nodeagent";
import { handleStartupOutput, logFrom, terminalWidth } from "#options";
import { ownMemory, returnMemory } from "./memory-return.ts";
import { exitWithSupervisor, reasonToStop, notifySupervisor } from "./up/channel.ts";

// The agent works in short bursts: optimized code costs more memory than it saves time, and that memory is
// not returned.
for (const flag of ["--no-opt", "--no-maglev", "--semi-space-growth-factor=1"]) setFlagsFromString(flag);
const argv = process.argv.slice(2);
process.exitCode = await main();

async function main(): Promise<number> {
  exitWithSupervisor();
  const out = (text: string): void => void process.stdout.write(text);
  const err = (text: string): void => void process.stderr.write(text);
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const settled = await settleNodeagent(dialect, argv);
  const exitCode = handleStartupOutput(nodeagentOptions(dialect), settled, {
    version: versionText,
    width: terminalWidth(process.env, process.stdout.columns),
    out,
    err,
  });
  if (exitCode !== undefined) return exitCode;
  if (settled.values.writeConfigTo) {
    await writeNodeagentConfig(dialect, settled.values, out);
    return 0;
  }
  const log = logFrom(settled.values);
  let agent;
  try {
    agent = await startAgent({
      dialect,
      settings: settled.values,
      log,
      version: releaseVersion,
      setVerbosity: (level) => log.setVerbosity(level),
    });
  } catch (error) {
    log.error("agent failed to start", { error: (error as Error).message });
    log.flush();
    // Parts that were started may still hold sockets and timers.
    process.exit(1);
  }
  log.info("running", { node: agent.nodeName, dialect: dialect.name });
  if (settled.values.runonce) {
    const notStarted = await agent.started();
    for (const pod of notStarted) log.error("pod was not started", { pod });
    await agent.stop();
    log.flush();
    return notStarted.length === 0 ? 0 : 1;
  }
  // Timers alone do not keep a process alive, and an agent without pods has nothing else.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  const stopping = new AbortController();
  void returnMemory(ownMemory(systemClock), stopping.signal);
  notifySupervisor({ ready: "" });
  const contended = agent.lockContended.then((isContended) =>
    isContended ? "another process is waiting for the lock file" : new Promise<never>(() => undefined),
  );
  const reason = await Promise.race([reasonToStop(), contended]);
  clearInterval(keepAlive);
  stopping.abort();
  log.info("stopping", { reason });
  await agent.stop();
  log.flush();
  return 0;
}
