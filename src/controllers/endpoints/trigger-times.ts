// Times of the changes that endpoints are written for, from which programming latency is measured.
import { timeOfMillis } from "#base";
import { type SeenPod, conditionOf, createdAt, timeOf } from "../pods.ts";
import type { SeenService } from "./service-pods.ts";

interface ObservedTimes {
  readonly service: number;
  /** Ready transition times by pod name. */
  readonly pods: ReadonlyMap<string, number>;
}

export class TriggerTimes {
  readonly #observed = new Map<string, ObservedTimes>();

  /**
   * Returns the earliest change since the last call; undefined if neither the service nor a pod has changed.
   */
  next(key: string, service: SeenService, pods: readonly SeenPod[]): string | undefined {
    const before = this.#observed.get(key);
    const created = createdAt(service);
    const ready = new Map(
      pods.map(({ metadata, status }) => [
        metadata.name!,
        timeOf(conditionOf(status.conditions, "Ready")?.lastTransitionTime ?? undefined),
      ]),
    );
    this.#observed.set(key, { service: created, pods: ready });
    if (!before) return timeOfMillis(created);
    const changed = [...ready].flatMap(([name, at]) => (at > (before.pods.get(name) ?? 0) ? [at] : []));
    if (created > before.service) changed.push(created);
    return changed.length > 0
      ? timeOfMillis(changed.reduce((least, each) => Math.min(least, each)))
      : undefined;
  }

  forget(key: string): void {
    this.#observed.delete(key);
  }
}
