// The `orch` command: runs a whole cluster, and provides the tools around it.
import { realpathSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { endWithReader } from "./output.ts";

const usage = `Usage:
  orch up [flags]          Run a whole cluster on this machine until Ctrl-C.
  orch down [--purge]      Stop it; with --purge remove its data.
  orch status              Report processes, sizes and problems.
  orch token               Print the command to join another machine.
  orch join SERVER [flags] Make this machine a node of a cluster until Ctrl-C.
  orch ui                  Print a one-time link to the web page of the cluster.
  orch store backup|restore FILE
                           Back up and restore the embedded store.
  orch store encryption    Report the encryption providers of stored objects, or replace old keys.
  orch config check|explain|migrate
                           Check, explain and convert settings of programs.
  orch audit FILE...       Print an audit log in readable form.
  orch auth why USER VERB RESOURCE
                           Report whether a user may do something, and why.
  orch events [OBJECT] [--tree] [--since 1h]
                           Print the timeline of an object and its dependents.
  orch events export [--follow]
                           Export events as JSON lines or to a collector, without loss.
  orch why-pending POD     Explain why a pod is not scheduled.
  orch envtest [--dir DIR] Write the programs that envtest harnesses start.
  orch node why-evict|shutdown-plan NODE
                           Preview evictions or a shutdown of a node.
  orch version             Print the version.
  orch help                Print this help.

Each command has its own --help. The programs orch-apiserver and nodeagent can also be run directly.
`;

const output = {
  out: (text: string): void => void process.stdout.write(text),
  err: (text: string): void => void process.stderr.write(text),
};
endWithReader(process.stdout);
process.exitCode = await main(process.argv.slice(2)).catch(systemProblem);

/** Reports a failed operation on a file or connection by its message; any other error is a defect. */
function systemProblem(error: Error): number {
  if (!("syscall" in error)) throw error;
  output.err(`error: ${error.message}\n`);
  return 1;
}

async function main([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case "up":
      return await (await import("./up/up.ts")).upCommand(rest, programs(), output);
    case "down":
      return await (await import("./up/down.ts")).downCommand(rest, output);
    case "status":
      return await (await import("./up/status-command.ts")).statusCommand(rest, output);
    case "token":
      return await (await import("./up/token-command.ts")).tokenCommand(rest, output);
    case "join":
      return await (await import("./up/join.ts")).joinCommand(rest, programs(), output);
    case "ui":
      return await (await import("./up/ui-command.ts")).uiCommand(rest, output);
    case "store":
      return await (await import("./up/store-command.ts")).storeCommand(rest, output);
    case "config":
      return await (await import("./config.ts")).configCommand(rest, output);
    case "audit":
      return await (await import("./audit/audit-command.ts")).auditCommand(rest, output);
    case "auth":
      return await (await import("./auth/auth-command.ts")).authCommand(rest, output);
    case "events":
      return await (await import("./events/events-command.ts")).eventsCommand(rest, output);
    case "why-pending":
      return await (await import("./why-pending.ts")).whyPendingCommand(rest, output);
    case "envtest":
      return await envtest(rest);
    case "node":
      return await (await import("./node-command.ts")).nodeCommand(rest, output);
    case "version":
    case "--version":
      output.out(`${(await import("#base")).versionText}\n`);
      return 0;
    case "help":
    case "--help":
    case "-h":
      output.out(usage);
      return 0;
    case undefined:
      output.err(usage);
      return 1;
    default:
      output.err(
        `error: unknown command: orch ${command}${(await import("#options")).hint(command, ["up", "down", "status", "token", "join", "ui", "store", "config", "audit", "auth", "events", "envtest", "why-pending", "node", "version", "help"])}\n\n${usage}`,
      );
      return 1;
  }
}

/**
 * Runs `orch envtest`. The store stand-in loads nothing else, since harnesses start it before every suite.
 */
async function envtest([first, ...rest]: readonly string[]): Promise<number> {
  if (first !== "store")
    return await (
      await import("./envtest/envtest.ts")
    ).envtestCommand(first === undefined ? [] : [first, ...rest], programs(), output);
  const { reasonToStop } = await import("./up/channel.ts");
  return await (await import("./envtest/store-stand-in.ts")).storeStandIn(rest, output, reasonToStop());
}

/**
 * Returns paths and command lines of the other programs, which are in the same folder, whether this one was
 * started by a launcher, as a compiled file, or from source.
 */
function programs() {
  const own = realpathSync(process.argv[1]!);
  const pathOf = (program: string): string => join(dirname(own), `${program}${extname(own)}`);
  // A launcher sets the options of its own program; a compiled file needs those of this process.
  const isLauncher = extname(own) === "";
  return {
    pathOf,
    commandOf: (program: string) =>
      isLauncher ? [pathOf(program)] : [process.execPath, ...process.execArgv, pathOf(program)],
  };
}
