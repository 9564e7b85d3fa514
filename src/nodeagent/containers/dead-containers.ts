// Garbage collection of dead containers: limits how many are kept per name, and in total on the node. The
// choice is made by pure functions. The newest container of each name of a live pod is kept for its status.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import { grpcErrorText } from "../errors.ts";
import type { ObservedContainer, ObservedPod } from "./observed.ts";

export interface DeadLimits {
  /** Dead containers kept per name; negative means unlimited. */
  readonly perContainer: number;
  /** Dead containers kept on the node; negative means unlimited. */
  readonly total: number;
  /** Minimum age, since its creation, of a dead container to be removed. */
  readonly ageMilliseconds: number;
}

/**
 * Returns the dead containers of one pod above the limit per name. The newest of each name is always kept:
 * the container's last state is read from it.
 */
export function surplusOfPod(
  { containers }: ObservedPod,
  { perContainer, ageMilliseconds }: DeadLimits,
  now: number,
): ObservedContainer[] {
  if (perContainer < 0) return [];
  const kept = new Map<string, number>();
  return containers.filter((container) => {
    if (container.state === "running") return false;
    const count = kept.get(container.name) ?? 0;
    kept.set(container.name, count + 1);
    return count >= Math.max(1, perContainer) && isOld(container, ageMilliseconds, now);
  });
}

/**
 * Returns the dead containers of all pods to remove: first those above the limit per name, then the oldest.
 */
export function surplusOfNode(
  pods: readonly ObservedPod[],
  limits: DeadLimits,
  now: number,
  isOver: (podUid: string) => boolean,
): ObservedContainer[] {
  const surplus = new Set(pods.flatMap((pod) => surplusOfPod(pod, limits, now)));
  if (limits.total < 0) return [...surplus];
  const dead = pods.flatMap(({ uid, containers }) =>
    containers
      .filter(({ state }) => state !== "running")
      .map((container) => ({ uid, container, newest: isNewest(container, containers) })),
  );
  const remaining = dead.filter(({ container }) => !surplus.has(container));
  const removable = remaining
    .filter(
      ({ uid, container, newest }) =>
        isOld(container, limits.ageMilliseconds, now) && (!newest || isOver(uid)),
    )
    .toSorted((a, b) => a.container.createdAt - b.container.createdAt);
  for (const { container } of removable.slice(0, Math.max(0, remaining.length - limits.total)))
    surplus.add(container);
  return [...surplus];
}

const isOld = ({ createdAt }: ObservedContainer, ageMilliseconds: number, now: number): boolean =>
  now - createdAt >= ageMilliseconds;
const isNewest = (container: ObservedContainer, all: readonly ObservedContainer[]): boolean =>
  all.find(({ name }) => name === container.name) === container;

/** Removes a dead container with its log, which the runtime leaves behind. */
export async function removeDeadContainer(
  {
    runtime,
    files,
  }: { readonly runtime: ContainerRuntime; readonly files: { removeLog(path: string): Promise<void> } },
  { id, logPath }: Pick<ObservedContainer, "id" | "logPath">,
  signal: AbortSignal,
): Promise<void> {
  await runtime.removeContainer(id, signal);
  await files.removeLog(logPath);
}

export interface CollectionOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly files: { removeLog(path: string): Promise<void> };
  readonly limits: DeadLimits;
  readonly pods: () => readonly ObservedPod[];
  /** Called when the runtime cannot list containers or sandboxes, as at each collection of the kubelet. */
  readonly onFailure: (message: string) => void;
  /** Reports whether no container of the pod will run again. */
  readonly isOver: (podUid: string) => boolean;
}

const periodMilliseconds = 60_000;

/** Runs periodically until the signal is aborted. A limit per name alone is enforced by every pod sync. */
export async function collectDeadContainers(
  { clock, log, runtime, files, limits, pods, onFailure, isOver }: CollectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const isLimited = limits.total >= 0 || limits.ageMilliseconds > 0;
  while (!signal.aborted) {
    await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await Promise.all([runtime.listContainers(), runtime.listPodSandboxes()]);
    } catch (error) {
      if (!signal.aborted) onFailure(grpcErrorText(error));
      continue;
    }
    if (!isLimited) continue;
    for (const container of surplusOfNode(pods(), limits, clock.now(), isOver)) {
      await removeDeadContainer({ runtime, files }, container, signal).catch((error: unknown) =>
        log.warn("failed to remove dead container", {
          container: container.name,
          id: container.id,
          error: (error as Error).message,
        }),
      );
    }
  }
}
