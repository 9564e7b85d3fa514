// The runtime's container events. Each event names a pod to inspect; relists find what events have missed.
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
  /** Inspects the pod of an event. */
  readonly inspect: (pod: PodName, signal: AbortSignal) => Promise<void>;
  /** Called with true when the stream delivers its first event, with false when it ends. */
  readonly onFollow?: ((isOpen: boolean) => void) | undefined;
  /** Called with the latency of each event. */
  readonly onEvent?: ((latencyMilliseconds: number) => void) | undefined;
  /** Called when the pod of an event could not be inspected; the next relist finds the change. */
  readonly onDiscard?: (() => void) | undefined;
}

/** Runs until the signal is aborted. Returns at once if the runtime does not implement events. */
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
        await options.inspect(pod, signal).catch(() => !signal.aborted && options.onDiscard?.());
      }
    } catch (error) {
      if ((error as { code?: unknown }).code === "UNIMPLEMENTED") return;
    }
    // A stream that ends without an error misses events as well.
    if (!signal.aborted) onFollow?.(false);
    await clock.sleep(options.retryMilliseconds(), signal).catch(() => undefined);
  }
}
