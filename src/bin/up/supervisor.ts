// Supervised child processes: a process that exits is restarted, with growing delays while it keeps failing.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Clock } from "#base";
import { LogFile } from "./log-file.ts";

export interface ProcessPlan {
  /** Display name, such as "API server". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Time to exit after SIGTERM before the process is killed. */
  readonly stopTimeoutMilliseconds: number;
  /**
   * Polled until it resolves with true. Not needed for our own programs, which report readiness over an IPC
   * channel; the channel also lets them detect the exit of the supervisor.
   */
  readonly isReady?: () => Promise<boolean>;
}

export type ProcessState =
  | { readonly is: "starting"; readonly phase?: string }
  | { readonly is: "ready"; readonly url?: string; readonly milliseconds: number }
  | { readonly is: "restarting"; readonly why: string; readonly inMilliseconds: number }
  | { readonly is: "failed"; readonly why: string; readonly lastLines: readonly string[] }
  | { readonly is: "stopped" };

/** A message of a child over its channel. */
interface ChildMessage {
  readonly phase?: string;
  readonly ready?: string;
}

const pollMilliseconds = 100;
const initialBackoff = 500;
const maxBackoff = 60_000;
/** A process that ran this long counts as healthy again. */
const healthyAfterMilliseconds = 60_000;

export interface Supervised {
  readonly plan: ProcessPlan;
  readonly pid: number | undefined;
  /** Resolves when the process is ready for the first time; rejects if it exits before. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

export function supervise(
  plan: ProcessPlan,
  clock: Clock,
  onState: (state: ProcessState) => void,
): Supervised {
  let child: ChildProcess | undefined;
  let stopping = false;
  let wasReady = false;
  let failures = 0;
  let cancelRestart = (): void => undefined;
  const log = new LogFile(plan.logFile);
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined);

  /** A program that ran before is restarted without a log rather than not at all, such as on a read-only disk. */
  const openLog = (): number | "ignore" => {
    try {
      return log.open();
    } catch (error) {
      if (!wasReady) throw error;
      return "ignore";
    }
  };

  const start = (): void => {
    const startedAt = clock.monotonic();
    onState({ is: "starting" });
    const output = openLog();
    // In a separate process group, so that Ctrl-C reaches only the supervisor, which decides on the order of
    // termination.
    const started = spawn(plan.command, plan.args, {
      stdio: ["ignore", output, output, ...(plan.isReady ? [] : ["ipc" as const])],
      detached: true,
    });
    if (output !== "ignore") closeSync(output);
    child = started;
    const stopRotation = log.startRotation(clock);
    const onReady = (url: string): void => {
      wasReady = true;
      onState({ is: "ready", url, milliseconds: clock.monotonic() - startedAt });
      first.resolve();
    };
    started.on("message", (message: ChildMessage) => {
      if (typeof message.phase === "string") onState({ is: "starting", phase: message.phase });
      if (typeof message.ready === "string") onReady(message.ready);
    });
    const poll = async (): Promise<void> => {
      const ready = await plan.isReady!();
      if (child !== started || stopping) return;
      if (ready) onReady("");
      else clock.after(pollMilliseconds, () => void poll());
    };
    if (plan.isReady) void poll();
    const onExit = (why: string): void => {
      if (child !== started) return;
      child = undefined;
      stopRotation();
      if (stopping) onState({ is: "stopped" });
      else if (!wasReady) {
        // A process that fails its first start would fail again.
        onState({ is: "failed", why, lastLines: log.lastLines() });
        first.reject(new Error(`${plan.name} ${why}`));
      } else {
        failures = clock.monotonic() - startedAt > healthyAfterMilliseconds ? 1 : failures + 1;
        const delay = Math.min(maxBackoff, initialBackoff * 2 ** (failures - 1));
        onState({ is: "restarting", why, inMilliseconds: delay });
        cancelRestart = clock.after(delay, start);
      }
    };
    started.on("error", (error) => onExit(`could not be started: ${error.message}`));
    started.on("exit", (code, signal) =>
      onExit(signal ? `was terminated by ${signal}` : `exited with code ${code}`),
    );
  };
  start();

  return {
    plan,
    get pid() {
      return child?.pid;
    },
    ready: first.promise,
    stop: async () => {
      stopping = true;
      cancelRestart();
      const ending = child;
      if (!ending) return;
      const exited = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
      ending.kill("SIGTERM");
      const cancel = clock.after(plan.stopTimeoutMilliseconds, () => ending.kill("SIGKILL"));
      await exited;
      cancel();
    },
    kill: () => {
      stopping = true;
      cancelRestart();
      child?.kill("SIGKILL");
    },
  };
}

/** Waits for a first start; resolves with "slow" if it has neither become ready nor failed in time. */
export async function startOf(
  { ready }: Pick<Supervised, "ready">,
  clock: Clock,
  milliseconds: number,
): Promise<"ready" | "failed" | "slow"> {
  const slow = Promise.withResolvers<"slow">();
  const cancel = clock.after(milliseconds, () => slow.resolve("slow"));
  const started = ready.then(
    () => "ready" as const,
    () => "failed" as const,
  );
  const outcome = await Promise.race([started, slow.promise]);
  cancel();
  return outcome;
}
