// A file that is locked while the agent runs, so that two agents never run on one node. The kernel releases
// the lock when its holder exits.
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import type { Clock } from "#base";

export interface LockFile {
  /**
   * Resolves with true when another process waits for the lock, with false if the signal is aborted before.
   */
  contended(signal: AbortSignal): Promise<boolean>;
  release(): void;
}

const pollMilliseconds = 1000;

/** Waits for the lock; rejects if the file cannot be locked. */
export async function lockFile(path: string, clock: Clock): Promise<LockFile> {
  const holder = spawn("flock", [path, "sh", "-c", "echo locked; exec cat"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errorOutput = "";
  holder.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (errorOutput = (errorOutput + text).slice(-1000)));
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once("data", () => resolve());
    holder.once("error", (error) => reject(new Error(`${path} cannot be locked: ${error.message}`)));
    holder.once("exit", () => reject(new Error(`${path} cannot be locked: ${errorOutput.trim()}`)));
  });
  holder.unref();
  const { ino } = await stat(path);
  return {
    contended: async (signal) => {
      while (!signal.aborted) {
        // A line with an arrow is a waiter: `1: -> FLOCK ADVISORY WRITE 42 08:01:1234 0 EOF`
        const locks = await readFile("/proc/locks", "utf8").catch(() => "");
        if (locks.split("\n").some((line) => line.includes("->") && line.includes(`:${ino} `))) return true;
        await clock.sleep(pollMilliseconds, signal).catch(() => undefined);
      }
      return false;
    },
    release: () => void holder.kill("SIGKILL"),
  };
}
