// One probe of one running container: runs it periodically, and reports when its threshold is reached.
import type { Probe } from "#api";
import type { Clock } from "#base";
import { grpcErrorText } from "../errors.ts";
import type { ProbeAnswer } from "./ask.ts";

export interface ProbingOptions {
  readonly clock: Clock;
  readonly probe: Probe;
  /** When the container started, in milliseconds. */
  readonly startedAt: number;
  /** Whether the first result decides alone, since the known state is from before the agent restarted. */
  readonly firstDecides?: boolean;
  /** Executes the probe; undefined while it must not run yet. */
  readonly ask: (signal: AbortSignal) => Promise<ProbeAnswer> | undefined;
  /** Called with each result other than success, and with errors. */
  readonly onTrouble: (kind: "failed" | "errored" | "warning", text: string) => void;
  /** Called each time the threshold is reached. Returning false ends the probing. */
  readonly onVerdict: (good: boolean) => boolean;
}

const mostTries = 3;

export interface Probing {
  /** Runs the probe at once, in addition to its schedule; not before the initial delay. */
  now(): void;
  stop(): void;
}

/** Starts probing. */
export function probing(options: ProbingOptions): Probing {
  const { clock, probe, startedAt, ask, onTrouble, onVerdict } = options;
  const stop = new AbortController();
  const period = Math.max(1, probe.periodSeconds ?? 10) * 1000;
  const enough = {
    good: Math.max(1, probe.successThreshold ?? 1),
    bad: Math.max(1, probe.failureThreshold ?? 3),
  };
  let last: boolean | undefined;
  let inARow = 0;

  async function once(): Promise<boolean> {
    const good = await answer();
    if (good === undefined || stop.signal.aborted) return true;
    const decides = options.firstDecides === true && last === undefined;
    inARow = good === last ? inARow + 1 : 1;
    last = good;
    return (!decides && inARow < (good ? enough.good : enough.bad)) || onVerdict(good);
  }

  /** Runs the probe once; undefined if it could not be executed. */
  async function answer(): Promise<boolean | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        const asked = ask(stop.signal);
        if (!asked) return undefined;
        const { result, output } = await asked;
        if (result === "warning") onTrouble("warning", output);
        if (result === "failure") onTrouble("failed", output);
        return result !== "failure";
      } catch (error) {
        if (stop.signal.aborted) return undefined;
        if (tries < mostTries) continue;
        onTrouble("errored", grpcErrorText(error));
        return undefined;
      }
    }
  }

  let nudge: AbortController | undefined;

  /** Waits until the given time, or until the probe is to run at once. */
  async function until(due: number): Promise<void> {
    nudge = new AbortController();
    try {
      await clock.sleep(Math.max(0, due - clock.now()), AbortSignal.any([stop.signal, nudge.signal]));
    } catch (error) {
      if (stop.signal.aborted) throw error;
    } finally {
      nudge = undefined;
    }
  }

  async function run(): Promise<void> {
    let due = startedAt + (probe.initialDelaySeconds ?? 0) * 1000;
    await clock.sleep(Math.max(0, due - clock.now()), stop.signal);
    for (;;) {
      if (clock.now() >= due) due = clock.now() + period;
      if (!(await once())) return;
      await until(due);
    }
  }
  run().catch(() => undefined);
  return {
    now: () => nudge?.abort(new Error("at once")),
    stop: () => stop.abort(new Error("the probe has ended")),
  };
}
