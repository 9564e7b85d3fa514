// The processes of a cluster on this machine: started in order, stopped in reverse order.
import { systemClock } from "#base";
import type { StatusView } from "./status-view.ts";
import { type ProcessPlan, type Supervised, startOf, supervise } from "./supervisor.ts";

const readyTimeoutMilliseconds = 15_000;

/** Waits for a part to be ready, for a limited time; after that the user is referred to its log. */
export async function waitUntilReady(part: Supervised, view: StatusView): Promise<undefined> {
  const outcome = await startOf(part, systemClock, readyTimeoutMilliseconds);
  if (outcome === "slow")
    view.print(`  ${part.plan.name}   is not ready yet; see its log ${part.plan.logFile}`);
}

/** The parts in the order they were started; they are stopped in reverse. */
export class Cluster {
  readonly #view: StatusView;
  readonly #parts: Supervised[] = [];
  constructor(view: StatusView) {
    this.#view = view;
  }

  start(plan: ProcessPlan): Supervised {
    const part = supervise(plan, systemClock, (state) => this.#view.part(plan.name, state));
    this.#parts.push(part);
    return part;
  }

  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop();
  }

  kill(): void {
    for (const part of this.#parts) part.kill();
  }
}

/** Resolves at the first signal; the second one kills everything. */
export async function stopRequest(cluster: Cluster): Promise<string> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const first = await new Promise<string>((resolve) => {
    for (const signal of signals) process.once(signal, resolve);
  });
  for (const signal of signals) {
    process.removeAllListeners(signal);
    process.once(signal, () => {
      cluster.kill();
      process.exit(1);
    });
  }
  return first;
}
