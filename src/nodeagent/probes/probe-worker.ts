// One probe of one running container: runs it periodically, and reports when its threshold is reached.
import type { Probe } from "#api";
import type { Clock } from "#base";
import { grpcErrorText } from "../errors.ts";
import type { ProbeResult } from "./run-probe.ts";

export interface ProbeWorkerOptions {
  readonly clock: Clock;
  readonly probe: Probe;
  /** When the container started, in milliseconds. */
  readonly startedAt: number;
  /** Whether the first result decides alone, since the known state is from before the agent restarted. */
  readonly firstDecides?: boolean;
  /** Executes the probe; undefined while it must not run yet. */
  readonly runProbe: (signal: AbortSignal) => Promise<ProbeResult> | undefined;
  /** Called with each result other than success, and with errors. */
  readonly onFailure: (kind: "failed" | "errored" | "warning", text: string) => void;
  /** Called each time the threshold is reached. Returning false ends the probing. */
  readonly onVerdict: (good: boolean) => boolean;
}

const maxTries = 3;

export interface ProbeWorker {
  /** Runs the probe at once, in addition to its schedule; not before the initial delay. */
  now(): void;
  stop(): void;
}

/** Starts probing. */
export function probeWorker(options: ProbeWorkerOptions): ProbeWorker {
  const { clock, probe, startedAt, runProbe, onFailure, onVerdict } = options;
  const stop = new AbortController();
  const period = Math.max(1, probe.periodSeconds ?? 10) * 1000;
  const enough = {
    good: Math.max(1, probe.successThreshold ?? 1),
    bad: Math.max(1, probe.failureThreshold ?? 3),
  };
  let last: boolean | undefined;
  let inARow = 0;

  async function once(): Promise<boolean> {
    const good = await attempt();
    if (good === undefined || stop.signal.aborted) return true;
    const decides = options.firstDecides === true && last === undefined;
    inARow = good === last ? inARow + 1 : 1;
    last = good;
    return (!decides && inARow < (good ? enough.good : enough.bad)) || onVerdict(good);
  }

  /** Runs the probe once; undefined if it could not be executed. */
  async function attempt(): Promise<boolean | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        const running = runProbe(stop.signal);
        if (!running) return undefined;
        const { result, output } = await running;
        if (result === "warning") onFailure("warning", output);
        if (result === "failure") onFailure("failed", output);
        return result !== "failure";
      } catch (error) {
        if (stop.signal.aborted) return undefined;
        if (tries < maxTries) continue;
        onFailure("errored", grpcErrorText(error));
        return undefined;
      }
    }
  }

  let trigger: AbortController | undefined;

  /** Waits until the given time, or until the probe is to run at once. */
  async function until(due: number): Promise<void> {
    trigger = new AbortController();
    try {
      await clock.sleep(Math.max(0, due - clock.monotonic()), AbortSignal.any([stop.signal, trigger.signal]));
    } catch (error) {
      if (stop.signal.aborted) throw error;
    } finally {
      trigger = undefined;
    }
  }

  async function run(): Promise<void> {
    const delay = (probe.initialDelaySeconds ?? 0) * 1000;
    const elapsed = Math.max(0, clock.now() - startedAt);
    let due = clock.monotonic() + Math.max(0, delay - elapsed);
    await clock.sleep(due - clock.monotonic(), stop.signal);
    for (;;) {
      if (clock.monotonic() >= due) due = clock.monotonic() + period;
      if (!(await once())) return;
      await until(due);
    }
  }
  run().catch(() => undefined);
  return {
    now: () => trigger?.abort(new Error("at once")),
    stop: () => stop.abort(new Error("the probe has ended")),
  };
}
