// The note that a running cluster leaves in its directory, and how others read it.
import { existsSync, readFileSync } from "node:fs";
import { writePrivate } from "#base";
import { type DialectName, dialects } from "#dialect";

export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly dialect: DialectName;
  /** The container runtime that its agent used last; empty before there was one. */
  readonly runtimeEndpoint: string;
  /** Set while it runs; what is left afterwards remembers the port. */
  readonly up: boolean;
}

/** Undefined where there is none, or none that makes sense; throws what keeps it from being read. */
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

/**
 * Whether the process of the note lives and is one of ours: numbers are used again after a restart of the
 * machine.
 */
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
    // It ended a moment ago.
    return false;
  }
}
