// Runs the system's programs from a small shell that is kept, one after the other: to fork this whole process
// for each mount would cost more than all the rest of starting a pod.
//
//   we write   mount -t tmpfs … '/pods/u/volumes/x' 2>&1; echo; echo "#done 0 $?"
//   it writes  what the program said, then  #done 0 32
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Clock } from "#base";
import { killGroup } from "../process-group.ts";

export interface CommandShell {
  /** Resolves when the program ended well; rejects with what it said, and its exit code. */
  run(command: string, args: readonly string[]): Promise<void>;
  close(): void;
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const longestOutput = 64 * 1024;
const mostWaiting = 10_000;
export const longestRunMilliseconds = 120_000;

export function commandShell(clock: Clock): CommandShell {
  const queue: Waiting[] = [];
  let shell: ChildProcessWithoutNullStreams | undefined;
  let current: Waiting | undefined;
  let said = "";
  let count = 0;
  let cancelLimit = (): void => undefined;

  const end = (problem?: string, code?: number): void => {
    cancelLimit();
    const done = current;
    current = undefined;
    if (problem === undefined) done?.resolve();
    else done?.reject(Object.assign(new Error(problem), code !== undefined && { code }));
    next();
  };
  /** A shell that is gone, or that hangs, is replaced by the next command's. */
  const drop = (why: string): void => {
    const old = shell;
    shell = undefined;
    // The program that it waits for goes with it.
    if (old) killGroup(old);
    if (current) end(why);
  };
  const open = (): ChildProcessWithoutNullStreams => {
    const made = spawn("/bin/sh", [], {
      env: { ...process.env, LC_ALL: "C" },
      stdio: "pipe",
      detached: true,
    });
    made.stdout.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-longestOutput);
      const found = /^#done (\d+) (\d+)$/m.exec(said);
      if (!found || Number(found[1]) !== count) return;
      const words = said.slice(0, found.index).trim();
      end(found[2] === "0" ? undefined : words || `exit code ${found[2]}`, Number(found[2]));
    });
    made.on("error", (error) => drop(error.message));
    made.on("exit", () => {
      if (shell === made) drop("the shell ended");
    });
    made.stdin.on("error", () => undefined);
    made.unref();
    for (const stream of [made.stdin, made.stdout, made.stderr])
      (stream as unknown as { unref?(): void }).unref?.();
    return made;
  };
  const next = (): void => {
    if (current || queue.length === 0) return;
    current = queue.shift()!;
    said = "";
    shell ??= open();
    shell.stdin.write(`${current.text} 2>&1 </dev/null; code=$?; echo; echo "#done ${++count} $code"\n`);
    cancelLimit = clock.after(longestRunMilliseconds, () => drop("it took too long"));
  };
  return {
    run: (command, args) =>
      new Promise((resolve, reject) => {
        if (queue.length >= mostWaiting) return reject(new Error("too many commands wait"));
        queue.push({ text: [command, ...args].map(quoted).join(" "), resolve, reject });
        next();
      }),
    close: () => drop("the shell was closed"),
  };
}

/** A word that the shell takes as it is. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
