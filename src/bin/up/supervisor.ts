// Child processes that are kept running: whatever ends by itself is started again, after a pause that grows
// while it keeps failing.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Clock } from "#base";
import { LogFile } from "./log-file.ts";

export interface ProcessPlan {
  /** What people read: "API server". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** How long it may take to end before it is killed. */
  readonly patienceMilliseconds: number;
  /**
   * Asked until it is so. Programs of ours need no asking: they tell over a channel, which also tells them
   * when we are gone.
   */
  readonly isReady?: () => Promise<boolean>;
}

export type ProcessState =
  | { readonly is: "starting"; readonly phase?: string }
  | { readonly is: "ready"; readonly url?: string; readonly milliseconds: number }
  | { readonly is: "restarting"; readonly why: string; readonly inMilliseconds: number }
  | { readonly is: "failed"; readonly why: string; readonly lastLines: readonly string[] }
  | { readonly is: "stopped" };

/** What a child tells over its channel. */
interface ChildMessage {
  readonly phase?: string;
  readonly ready?: string;
}

const askPause = 100;
const firstPause = 500;
const longestPause = 60_000;
/** Whoever ran this long is taken for healthy again. */
const healthyAfter = 60_000;

export interface Supervised {
  readonly plan: ProcessPlan;
  readonly pid: number | undefined;
  /** Resolves when it is ready for the first time; rejects when it ends before. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

export function supervise(
  plan: ProcessPlan,
  clock: Clock,
  changed: (state: ProcessState) => void,
): Supervised {
  let child: ChildProcess | undefined;
  let stopping = false;
  let wasReady = false;
  let failures = 0;
  let cancelRestart = (): void => undefined;
  const log = new LogFile(plan.logFile);
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined);

  const start = (): void => {
    const began = clock.now();
    changed({ is: "starting" });
    const output = log.open();
    // A group of its own: Ctrl-C reaches only us, and we decide who ends first.
    const started = spawn(plan.command, plan.args, {
      stdio: ["ignore", output, output, ...(plan.isReady ? [] : ["ipc" as const])],
      detached: true,
    });
    closeSync(output);
    child = started;
    const leaveLog = log.keepSmall(clock);
    const becameReady = (url: string): void => {
      wasReady = true;
      changed({ is: "ready", url, milliseconds: clock.now() - began });
      first.resolve();
    };
    started.on("message", (message: ChildMessage) => {
      if (typeof message.phase === "string") changed({ is: "starting", phase: message.phase });
      if (typeof message.ready === "string") becameReady(message.ready);
    });
    const ask = async (): Promise<void> => {
      const ready = await plan.isReady!();
      if (child !== started || stopping) return;
      if (ready) becameReady("");
      else clock.after(askPause, () => void ask());
    };
    if (plan.isReady) void ask();
    const ended = (why: string): void => {
      if (child !== started) return;
      child = undefined;
      leaveLog();
      if (stopping) changed({ is: "stopped" });
      else if (!wasReady) {
        // What cannot start the first time will not start the second time either.
        changed({ is: "failed", why, lastLines: log.lastLines() });
        first.reject(new Error(`${plan.name} ${why}`));
      } else {
        failures = clock.now() - began > healthyAfter ? 1 : failures + 1;
        const pause = Math.min(longestPause, firstPause * 2 ** (failures - 1));
        changed({ is: "restarting", why, inMilliseconds: pause });
        cancelRestart = clock.after(pause, start);
      }
    };
    started.on("error", (error) => ended(`could not be run: ${error.message}`));
    started.on("exit", (code, signal) =>
      ended(signal ? `was ended by ${signal}` : `ended with code ${code}`),
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
      const gone = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
      ending.kill("SIGTERM");
      const cancel = clock.after(plan.patienceMilliseconds, () => ending.kill("SIGKILL"));
      await gone;
      cancel();
    },
    kill: () => {
      stopping = true;
      cancelRestart();
      child?.kill("SIGKILL");
    },
  };
}

/** How a first start goes; slow when it has neither come to be ready nor failed in time. */
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
