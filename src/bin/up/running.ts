// The record of a running cluster in its directory.
import { existsSync, readFileSync } from "node:fs";
import { writePrivate } from "#base";
import { type DialectName, dialects } from "#dialect";

export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly dialect: DialectName;
  /** The container runtime that its agent used last; empty if it never ran. */
  readonly runtimeEndpoint: string;
  /** Set while the cluster runs; afterwards the record preserves the port. */
  readonly up: boolean;
}

/** Returns undefined if there is no valid record; throws if it cannot be read. */
export function readRunning(file: string): Running | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    const { pid, port, dialect, runtimeEndpoint = "", up } = JSON.parse(text) as Partial<Running>;
    return typeof pid === "number" && typeof port === "number" && dialect && Object.hasOwn(dialects, dialect)
      ? { pid, port, dialect, runtimeEndpoint, up: up === true }
      : undefined;
  } catch {
    return undefined;
  }
}

export const writeRunning = (file: string, running: Running): void =>
  writePrivate(file, `${JSON.stringify(running)}\n`);

/** Reports whether the recorded process is alive and one of ours: process IDs are reused after a reboot. */
export function isAlive({ pid, up }: Running): boolean {
  if (!up || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  if (!existsSync("/proc/self/cmdline")) return true;
  try {
    return /\borch\b/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    // The process has just exited.
    return false;
  }
}
