// Graceful node shutdown: delays the machine's shutdown, stops pods group by group, then lets it proceed.
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import type { CheckpointStore, EventRecorder, PodAdmitHandler, PodEvictor } from "../interfaces.ts";
import { keyOf, uidOf } from "../pod.ts";
import type { Logind } from "./logind.ts";
import type { PriorityGrace } from "../options/types.ts";
import { inhibitSeconds, shutdownPlan } from "./plan.ts";

export interface NodeShutdownOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly nodeName: string;
  /** Agent name such as "Kubelet", for the reason of the pod condition. */
  readonly agentTitle: string;
  readonly steps: readonly PriorityGrace[];
  readonly connect: () => Promise<Logind>;
  readonly pods: () => readonly Pod[];
  readonly evictor: PodEvictor;
  /** Stores the times of shutdowns; absent if metrics of them are disabled. */
  readonly store?: CheckpointStore | undefined;
  /** Called when a shutdown starts or is cancelled, to update the node status. */
  readonly onChange: () => void;
  readonly onTimes?: (startSeconds: number, endSeconds: number) => void;
}

export interface NodeShutdown extends PodAdmitHandler {
  /** Returns why the node is not ready; undefined while no shutdown is in progress. */
  notReadyReason(): string | undefined;
  /** Returns which pods would be stopped when, as JSON. */
  plan(): string;
  /** Handles shutdowns until the signal is aborted; errors at the start are logged and disable it. */
  run(signal: AbortSignal): Promise<void>;
}

const stateName = "graceful_node_shutdown_state";
const noTime = "0001-01-01T00:00:00Z";
const reloadMilliseconds = 1000;
const reconnectMilliseconds = 1000;

export function nodeShutdown(options: NodeShutdownOptions): NodeShutdown {
  const { clock, log, events, evictor, steps } = options;
  let isShuttingDown = false;
  let release: () => void = () => undefined;
  /** Signals are handled one at a time, in order. */
  let handled: Promise<void> = Promise.resolve();
  const seconds = inhibitSeconds(steps);

  return {
    notReadyReason: () => (isShuttingDown ? "node is shutting down" : undefined),
    plan: () => planJson(steps, options.pods()),
    admit: () =>
      isShuttingDown
        ? { ok: false, reason: "NodeShutdown", message: "Pod was rejected as the node is shutting down." }
        : { ok: true },
    run: async (signal) => {
      if (steps.length === 0) return;
      signal.addEventListener("abort", () => release(), { once: true });
      try {
        const logind = await follow(signal);
        await reportSavedTimes();
        await keepConnected(logind, signal);
      } catch (error) {
        log.error("node shutdowns are not handled", { error: (error as Error).message });
      }
    },
  };

  async function follow(signal: AbortSignal): Promise<Logind> {
    const logind = await options.connect();
    try {
      await followOn(logind, signal);
    } catch (error) {
      logind.close();
      throw error;
    }
    return logind;
  }

  async function followOn(logind: Logind, signal: AbortSignal): Promise<void> {
    if ((await logind.longestDelaySeconds()) < seconds) {
      await logind.overrideDelay(seconds);
      // Logind needs a moment to reload its configuration.
      await clock.sleep(reloadMilliseconds, signal);
      const longest = await logind.longestDelaySeconds();
      if (longest < seconds)
        throw new Error(
          `node shutdown needs ${seconds} s, but logind delays it by at most ${longest} s despite the override`,
        );
    }
    await takeLock(logind);
    await logind.onShutdown((begins) => {
      handled = handled
        .then(() => (begins ? begin(signal) : cancel(logind)))
        .catch((error: unknown) =>
          log.error("failed to handle node shutdown", { error: (error as Error).message }),
        );
    });
  }

  /** Reconnects whenever the bus connection is lost. */
  async function keepConnected(first: Logind, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    let logind: Logind | undefined = first;
    while (!signal.aborted) {
      if (logind) await Promise.race([logind.closed, aborted]);
      await clock.sleep(reconnectMilliseconds, signal).catch(() => undefined);
      if (signal.aborted) return;
      logind = await follow(signal).catch((error: unknown) => {
        log.warn("node shutdowns are not handled until logind can be reached", {
          error: (error as Error).message,
        });
        return undefined;
      });
    }
  }

  /** Takes a new lock, and releases the previous one. */
  async function takeLock(logind: Logind): Promise<void> {
    const taken = await logind.inhibit();
    release();
    release = taken;
  }

  async function begin(signal: AbortSignal): Promise<void> {
    isShuttingDown = true;
    log.info("node shutdown detected");
    events.event(nodeReference(), "Normal", "Shutdown", "Shutdown manager detected shutdown event");
    options.onChange();
    const startedAt = clock.now();
    await save(startedAt, undefined);
    for (const group of shutdownPlan(steps, options.pods())) {
      if (group.pods.length === 0) continue;
      await endGroup(group.pods, group.seconds, signal);
      // The agent stops: it must not stop the pods of later groups early.
      if (signal.aborted) return;
    }
    await save(startedAt, clock.now());
    log.info("pods have ended; shutdown proceeds");
    release();
    release = () => undefined;
  }

  /** Waits until the pods have ended, or the group's time is over. */
  async function endGroup(
    pods: readonly { readonly pod: Pod; readonly graceSeconds: number }[],
    groupSeconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    const limit = new AbortController();
    const cancel = clock.after(groupSeconds * 1000, () => limit.abort());
    const message = "Pod was terminated in response to imminent node shutdown.";
    const disruption = { reason: `TerminationBy${options.agentTitle}`, message };
    try {
      await Promise.all(
        pods.map(async ({ pod, graceSeconds }) => {
          log.info("stopping pod for node shutdown", { pod: keyOf(pod), graceSeconds });
          await evictor.evict(
            uidOf(pod),
            // A group with 0 seconds is not waited for; its pods get their own grace period.
            { reason: "Terminated", message, graceSeconds, disruption },
            AbortSignal.any([limit.signal, signal]),
          );
        }),
      );
    } finally {
      cancel();
    }
  }

  async function cancel(logind: Logind): Promise<void> {
    isShuttingDown = false;
    log.info("node shutdown cancelled");
    events.event(nodeReference(), "Normal", "Shutdown", "Shutdown manager detected shutdown cancellation");
    options.onChange();
    await takeLock(logind);
  }

  async function save(startedAt: number, endedAt: number | undefined): Promise<void> {
    if (!options.store) return;
    const text = (at: number | undefined): string => (at === undefined ? noTime : new Date(at).toISOString());
    const state = { startTime: text(startedAt), endTime: text(endedAt) };
    // As in the kubelet, the end of a shutdown is shown as its start; after the next boot both are right.
    options.onTimes?.(Math.trunc((endedAt ?? startedAt) / 1000), 0);
    await options.store.write(stateName, JSON.stringify(state)).catch((error: unknown) => {
      log.warn("failed to save node shutdown state", { error: (error as Error).message });
    });
  }

  /** Reports the times of the last shutdown before this boot. */
  async function reportSavedTimes(): Promise<void> {
    try {
      const text = await options.store?.read(stateName);
      if (text === undefined) return;
      const { startTime, endTime } = JSON.parse(text) as { startTime?: string; endTime?: string };
      const secondsOf = (time: string = noTime): number =>
        time === noTime ? 0 : Math.trunc(Date.parse(time) / 1000);
      options.onTimes?.(secondsOf(startTime), secondsOf(endTime));
    } catch (error) {
      log.warn("failed to read state of the last node shutdown", { error: (error as Error).message });
    }
  }

  function nodeReference(): { kind: string; name: string; uid: string } {
    return { kind: "Node", name: options.nodeName, uid: options.nodeName };
  }
}

function planJson(steps: readonly PriorityGrace[], pods: readonly Pod[]): string {
  const groups = shutdownPlan(steps, pods).map(({ priority, seconds, pods: of }) => ({
    priority,
    seconds,
    pods: of.map(({ pod, graceSeconds }) => ({ pod: keyOf(pod), graceSeconds })),
  }));
  return `${JSON.stringify({ inhibitSeconds: inhibitSeconds(steps), groups }, undefined, 2)}\n`;
}
