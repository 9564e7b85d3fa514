// What the runtime itself tells of its containers. Each event names a pod to look at; the lists remain, for
// what was missed.
import type { Clock } from "#base";
import { type ContainerRuntime, millisecondsOf } from "#cri";
import type { Dialect } from "#dialect";
import type { Owns } from "./owner.ts";
import type { PodName } from "./pod-cache.ts";
import { runtimeLabelNames } from "./runtime-labels.ts";

export interface RuntimeEventsOptions {
  readonly runtime: Pick<ContainerRuntime, "containerEvents">;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly owns: Owns;
  readonly retryMilliseconds: () => number;
  /** Looks at a pod of which something was told. */
  readonly look: (pod: PodName, signal: AbortSignal) => Promise<void>;
  /** Told when the stream is there, or cannot be had, or broke. */
  readonly onFollow?: ((isOpen: boolean) => void) | undefined;
  /** Told how long after it happened each event came. */
  readonly onEvent?: ((latencyMilliseconds: number) => void) | undefined;
  /** Told when the pod of an event could not be looked at: the next list finds what happened. */
  readonly onDiscard?: (() => void) | undefined;
}

/** Follows until the signal is aborted, or at once ends where the runtime tells nothing. */
export async function followRuntimeEvents(options: RuntimeEventsOptions, signal: AbortSignal): Promise<void> {
  const { runtime, clock, dialect, owns, onFollow } = options;
  const names = runtimeLabelNames(dialect);
  while (!signal.aborted) {
    let isOpen = false;
    try {
      for await (const { createdAt, podSandboxStatus } of runtime.containerEvents(signal)) {
        if (!isOpen) onFollow?.((isOpen = true));
        options.onEvent?.(Math.max(0, clock.now() - (millisecondsOf(createdAt) ?? clock.now())));
        const labels = podSandboxStatus?.labels ?? {};
        const uid = labels[names.podUid];
        if (uid === undefined || !owns(labels)) continue;
        const pod = { uid, name: labels[names.podName] ?? "", namespace: labels[names.podNamespace] ?? "" };
        await options.look(pod, signal).catch(() => !signal.aborted && options.onDiscard?.());
      }
    } catch (error) {
      if ((error as { code?: unknown }).code === "UNIMPLEMENTED") return;
      if (!signal.aborted) onFollow?.(false);
    }
    await clock.sleep(options.retryMilliseconds(), signal).catch(() => undefined);
  }
}
