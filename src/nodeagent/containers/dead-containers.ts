// Dead containers take room: of each name only the last few are kept, and on the whole node only so many.
// Which of them go is decided purely; whatever still tells how a living pod is doing stays.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type { ObservedContainer, ObservedPod } from "./observed.ts";

export interface DeadLimits {
  /** Dead containers kept of each name; negative is no limit. */
  readonly perContainer: number;
  /** Dead containers kept on the node; negative is no limit. */
  readonly total: number;
  /** How old a dead container is before it goes, counted from when it was made. */
  readonly ageMilliseconds: number;
}

/**
 * The dead containers of one pod that are too many of their name. The newest tells how it ended, so that it
 * is kept in any case.
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

/** The dead containers of all pods that are too many, those of each name first, then the oldest. */
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
  const left = dead.filter(({ container }) => !surplus.has(container));
  const mayGo = left
    .filter(
      ({ uid, container, newest }) =>
        isOld(container, limits.ageMilliseconds, now) && (!newest || isOver(uid)),
    )
    .toSorted((a, b) => a.container.createdAt - b.container.createdAt);
  for (const { container } of mayGo.slice(0, Math.max(0, left.length - limits.total))) surplus.add(container);
  return [...surplus];
}

const isOld = ({ createdAt }: ObservedContainer, ageMilliseconds: number, now: number): boolean =>
  now - createdAt >= ageMilliseconds;
const isNewest = (container: ObservedContainer, all: readonly ObservedContainer[]): boolean =>
  all.find(({ name }) => name === container.name) === container;

export interface CollectionOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly limits: DeadLimits;
  readonly pods: () => readonly ObservedPod[];
  /** Whether nothing of the pod will run again. */
  readonly isOver: (podUid: string) => boolean;
}

const periodMilliseconds = 60_000;

/**
 * Goes round until the signal is aborted. Limits that each pod keeps by itself whenever it is looked at need
 * no rounds.
 */
export async function collectDeadContainers(
  { clock, log, runtime, limits, pods, isOver }: CollectionOptions,
  signal: AbortSignal,
): Promise<void> {
  if (limits.total < 0 && limits.ageMilliseconds === 0) return;
  while (!signal.aborted) {
    await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    if (signal.aborted) return;
    for (const { id, name } of surplusOfNode(pods(), limits, clock.now(), isOver)) {
      await runtime.removeContainer(id, signal).catch((error: unknown) =>
        log.warn("failed to remove dead container", {
          container: name,
          id,
          error: (error as Error).message,
        }),
      );
    }
  }
}
