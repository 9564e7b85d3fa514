// A program that is restarted whenever it exits, as a service manager would do.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { programCommand } from "#kit";

export interface RestartedProgram {
  /** The end of its output. */
  log(): string;
  /** Kills the process, which is then restarted. Resolves when the process has exited. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const pauseMilliseconds = 300;

export function restartedProgram(
  program: string,
  flags: readonly string[],
  { folder, instance = 0 }: { readonly folder: string; readonly instance?: number },
): RestartedProgram {
  const file = join(folder, `${program}-${instance}.log`);
  const [command, ...words] = programCommand(program);
  let stopping = false;
  let child: ChildProcess;
  let ended: Promise<void>;
  const start = (): void => {
    const output = openSync(file, "a");
    child = spawn(command!, [...words, ...flags], { stdio: ["ignore", output, output] });
    closeSync(output);
    ended = new Promise((resolve) => child.once("exit", () => resolve()));
    void ended.then(async () => {
      // Pauses, so as not to restart in a tight loop while the server is down.
      if (!stopping) await sleep(pauseMilliseconds);
      if (!stopping) start();
    });
  };
  start();
  return {
    log: () => `${program} ${instance}: ${readFileSync(file, "utf8").slice(-1500)}`,
    kill: () => {
      const killed = ended;
      child.kill("SIGKILL");
      return killed;
    },
    stop: () => {
      stopping = true;
      child.kill("SIGKILL");
      return ended;
    },
  };
}
