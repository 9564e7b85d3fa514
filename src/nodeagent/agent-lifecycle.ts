// What the agent has started, so that it can be stopped: parts in the opposite order of their start, then what
// runs in the background, then the resources that all of them use. A start that fails stops what it began.
import type { Clock, Log } from "#base";

export interface AgentLifecycle {
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  /** Resolves when the agent stops. */
  readonly stopped: Promise<void>;
  /** Something with a life of its own. */
  part(name: string, stop: () => Promise<unknown> | void): void;
  /** Something that others use until they have stopped: a connection, a process, a lock. */
  resource(name: string, stop: () => Promise<unknown> | void): void;
  /** Something that runs until the signal is aborted. */
  run(...tasks: readonly Promise<unknown>[]): void;
  stop(): Promise<void>;
}

interface Started {
  readonly name: string;
  readonly stop: () => Promise<unknown> | void;
}

/** How long the end waits for what goes on. */
const patienceMilliseconds = 2000;

export function agentLifecycle({ clock, log }: { readonly clock: Clock; readonly log: Log }): AgentLifecycle {
  const stopping = new AbortController();
  const { signal } = stopping;
  const parts: Started[] = [];
  const resources: Started[] = [];
  const tasks: Promise<unknown>[] = [];
  const { promise: stopped, resolve: haveStopped } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => haveStopped(), { once: true });

  async function stopAll(started: readonly Started[]): Promise<void> {
    for (const { name, stop } of started.toReversed()) {
      try {
        await stop();
      } catch (error) {
        log.warn("failed to stop a part of the agent", { part: name, error: (error as Error).message });
      }
    }
  }

  return {
    signal,
    stopped,
    part: (name, stop) => void parts.push({ name, stop }),
    resource: (name, stop) => void resources.push({ name, stop }),
    run: (...begun) => {
      for (const task of begun) {
        // Whoever waits for it hears of its failure; nobody else need end for it.
        task.catch(() => undefined);
        tasks.push(task);
      }
    },
    stop: async () => {
      stopping.abort(new Error("the agent was stopped"));
      await stopAll(parts);
      const ended = Promise.allSettled(tasks);
      await waitAtMost(clock, patienceMilliseconds, ended);
      await stopAll(resources);
      // Whoever still waited for an answer gets none any more.
      await waitAtMost(clock, patienceMilliseconds, ended);
    },
  };
}

/** Waits for something, but no longer than this. */
export async function waitAtMost(
  clock: Clock,
  milliseconds: number,
  awaited: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  await Promise.race([awaited, clock.sleep(milliseconds, over.signal).catch(() => undefined)]);
  over.abort(new Error("it has come"));
}
