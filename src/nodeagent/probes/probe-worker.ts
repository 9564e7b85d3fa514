// One probe of a container by name: runs at every tick of its period, also across restarts of the container, and
// reports when its threshold is reached.
import type { Probe } from "#api";
import type { Clock } from "#base";
import { grpcErrorText } from "../errors.ts";
import type { ProbeResult } from "./run-probe.ts";

export interface ProbeWorkerOptions {
  readonly clock: Clock;
  readonly probe: Probe;
  /** How long the ticks are delayed, so that the probes of all pods do not run at once after a restart of the agent. */
  readonly delayMilliseconds?: number;
  /** Executes the probe; undefined while it must not run. */
  readonly runProbe: (signal: AbortSignal) => Promise<ProbeResult> | undefined;
  /** Called with each result other than success, and with errors. */
  readonly onFailure: (kind: "failed" | "errored" | "warning", text: string) => void;
  /** Called with each result from the threshold on. Returning false resets the count. */
  readonly onVerdict: (good: boolean) => boolean;
}

const maxTries = 3;

export interface ProbeWorker {
  /** Runs the probe at once, in addition to its schedule, or once more if it is running. */
  now(): void;
  /** Lets the next result decide alone, since the known state is from before the agent restarted. */
  decideNext(): void;
  stop(): void;
}

/** Starts probing. */
export function probeWorker(options: ProbeWorkerOptions): ProbeWorker {
  const { clock, probe, runProbe, onFailure, onVerdict } = options;
  const stop = new AbortController();
  const period = Math.max(1, probe.periodSeconds ?? 10) * 1000;
  const enough = {
    good: Math.max(1, probe.successThreshold ?? 1),
    bad: Math.max(1, probe.failureThreshold ?? 3),
  };
  let last: boolean | undefined;
  let inARow = 0;
  let decides = false;
  let isTriggered = false;
  let trigger: AbortController | undefined;

  async function once(): Promise<void> {
    const good = await attempt();
    if (good === undefined || stop.signal.aborted) return;
    inARow = good === last ? inARow + 1 : 1;
    last = good;
    const isReached = decides || inARow >= (good ? enough.good : enough.bad);
    decides = false;
    if (isReached && !onVerdict(good)) inARow = 0;
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

  /** Waits for the tick at the given time, or until the probe is to run at once. */
  async function nextRun(tick: number): Promise<"tick" | "at once"> {
    if (isTriggered) return "at once";
    trigger = new AbortController();
    try {
      const left = Math.max(0, tick - clock.monotonic());
      await clock.sleep(left, AbortSignal.any([stop.signal, trigger.signal]));
      return "tick";
    } catch (error) {
      if (stop.signal.aborted) throw error;
      return "at once";
    } finally {
      trigger = undefined;
    }
  }

  async function run(): Promise<void> {
    await clock.sleep(options.delayMilliseconds ?? 0, stop.signal);
    let tick = clock.monotonic() + period;
    for (;;) {
      isTriggered = false;
      await once();
      stop.signal.throwIfAborted();
      if ((await nextRun(tick)) === "at once") continue;
      // A probe that took longer than its period is repeated at once; further missed ticks are skipped.
      const late = Math.max(0, clock.monotonic() - tick);
      tick += period * (1 + Math.floor(late / period));
    }
  }
  run().catch(() => undefined);
  return {
    now: () => {
      isTriggered = true;
      trigger?.abort(new Error("at once"));
    },
    decideNext: () => void (decides = true),
    stop: () => stop.abort(new Error("the probe has ended")),
  };
}
