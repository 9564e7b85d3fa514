// Tracks what the agent has started, so that it can be stopped: first the parts in reverse order of their
// start, then the background tasks, then the resources that all of them use. A failed start stops what it has
// started.
import type { Clock, Log } from "#base";

export interface AgentLifecycle {
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  /** Resolves when the agent stops. */
  readonly stopped: Promise<void>;
  /** Registers a component to stop. */
  part(name: string, stop: () => Promise<unknown> | void): void;
  /** Registers something that components use until they have stopped: a connection, a process, a lock. */
  resource(name: string, stop: () => Promise<unknown> | void): void;
  /** Registers tasks that run until the signal is aborted. */
  run(...tasks: readonly Promise<unknown>[]): void;
  stop(): Promise<void>;
}

interface Started {
  readonly name: string;
  readonly stop: () => Promise<unknown> | void;
}

/** How long a stop waits for running tasks. */
const stopTimeoutMilliseconds = 2000;

export function agentLifecycle({ clock, log }: { readonly clock: Clock; readonly log: Log }): AgentLifecycle {
  const stopping = new AbortController();
  const { signal } = stopping;
  const parts: Started[] = [];
  const resources: Started[] = [];
  const tasks: Promise<unknown>[] = [];
  const { promise: stopped, resolve: resolveStopped } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolveStopped(), { once: true });

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
        // A failure is reported to those who await the task; it must not be an unhandled rejection.
        task.catch(() => undefined);
        tasks.push(task);
      }
    },
    stop: async () => {
      stopping.abort(new Error("the agent was stopped"));
      await stopAll(parts);
      const ended = Promise.allSettled(tasks);
      await waitAtMost(clock, stopTimeoutMilliseconds, ended);
      await stopAll(resources);
      // Tasks that still waited for a response fail once the resources are closed.
      await waitAtMost(clock, stopTimeoutMilliseconds, ended);
    },
  };
}

/** Waits for `awaited` to settle, for at most `milliseconds`. */
export async function waitAtMost(
  clock: Clock,
  milliseconds: number,
  awaited: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  await Promise.race([awaited, clock.sleep(milliseconds, over.signal).catch(() => undefined)]);
  over.abort(new Error("the wait is over"));
}
