// Runs system programs one after the other from a small persistent shell: forking this whole process for each
// mount would cost more than all the rest of starting a pod.
//
//   stdin    mount -t tmpfs … '/pods/u/volumes/x' 2>&1; echo; echo "#done 0 $?"
//   stdout   the program's output, then  #done 0 32
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Clock } from "#base";
import { killGroup } from "../process-group.ts";

export interface CommandShell {
  /** Resolves when the program exits with 0; rejects with its output and exit code. */
  run(command: string, args: readonly string[]): Promise<void>;
  close(): void;
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const maxOutputBytes = 64 * 1024;
const maxWaiting = 10_000;
export const longestRunMilliseconds = 120_000;

export function commandShell(clock: Clock): CommandShell {
  const queue: Waiting[] = [];
  let shell: ChildProcessWithoutNullStreams | undefined;
  let current: Waiting | undefined;
  let output = "";
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
  /** Drops a shell that exited or hangs; the next command starts a new one. */
  const drop = (why: string): void => {
    const old = shell;
    shell = undefined;
    // Also kills the program the shell is waiting for.
    if (old) killGroup(old);
    if (current) end(why);
  };
  const open = (): ChildProcessWithoutNullStreams => {
    const made = spawn("/bin/sh", [], {
      env: { ...process.env, LC_ALL: "C" },
      stdio: "pipe",
      detached: true,
    });
    made.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-maxOutputBytes);
      const found = /^#done (\d+) (\d+)$/m.exec(output);
      if (!found || Number(found[1]) !== count) return;
      const text = output.slice(0, found.index).trim();
      end(found[2] === "0" ? undefined : text || `exit code ${found[2]}`, Number(found[2]));
    });
    made.on("error", (error) => drop(error.message));
    made.on("exit", () => {
      if (shell === made) drop("the shell exited");
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
    output = "";
    shell ??= open();
    shell.stdin.write(`${current.text} 2>&1 </dev/null; code=$?; echo; echo "#done ${++count} $code"\n`);
    cancelLimit = clock.after(longestRunMilliseconds, () => drop("command timed out"));
  };
  return {
    run: (command, args) =>
      new Promise((resolve, reject) => {
        if (queue.length >= maxWaiting) return reject(new Error("too many pending commands"));
        queue.push({ text: [command, ...args].map(quoted).join(" "), resolve, reject });
        next();
      }),
    close: () => drop("the shell was closed"),
  };
}

/** Quotes a word for the shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
