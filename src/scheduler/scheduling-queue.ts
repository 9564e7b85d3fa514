// The scheduling queue: active pods, pods in backoff, and unschedulable pods waiting for an event.
import type { Clock } from "#base";
import type { ClusterEvent } from "./framework.ts";
import { Heap } from "./heap.ts";
import type { SeenPod } from "./node-info.ts";

export interface QueuedPod {
  pod: SeenPod;
  /** Order of first arrival, for pods of equal priority. */
  readonly sequence: number;
  /** Time of first arrival, in milliseconds. */
  readonly since: number;
  attempts: number;
  /** Time of the last failed attempt. */
  failedAt: number;
  /** Plugins that rejected the pod; empty if any event may help. */
  rejectedBy: ReadonlySet<string>;
  /** Number of move events before its last attempt started. */
  cycle: number;
}

/** Called with the queue to which a pod was added, and the event. */
export type IncomingPod = (queue: "active" | "backoff" | "unschedulable", event: string) => void;

export interface QueueOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Returns the plugins whose rejections an event may resolve. */
  readonly pluginsHelpedBy: (event: ClusterEvent) => ReadonlySet<string>;
  readonly incoming?: IncomingPod | undefined;
  readonly initialBackoffMilliseconds?: number;
  readonly maxBackoffMilliseconds?: number;
}

/** Names of cluster events in the metric of incoming pods. */
const eventNames: Readonly<Record<ClusterEvent, string>> = {
  "node added": "NodeAdd",
  "node deleted": "NodeDelete",
  "node allocatable": "NodeAllocatableChange",
  "node labels": "NodeLabelChange",
  "node taints": "NodeTaintChange",
  "pod added": "AssignedPodAdd",
  "pod deleted": "AssignedPodDelete",
  volume: "PvUpdate",
  claim: "PvcUpdate",
  "storage class": "StorageClassAdd",
  "csi node": "CSINodeUpdate",
  "csi driver": "CSIDriverUpdate",
  "storage capacity": "CSIStorageCapacityUpdate",
};
const attemptFailed = "ScheduleAttemptFailure";

const unschedulableMilliseconds = 5 * 60_000;
const sweepMilliseconds = 30_000;
const tickMilliseconds = 1000;

export const priorityOf = ({ spec }: SeenPod): number => spec.priority ?? 0;

export class SchedulingQueue {
  readonly #options: QueueOptions;
  readonly #active = new Map<string, QueuedPod>();
  /** Active pods in order; entries that are no longer active are skipped. */
  readonly #order = new Heap<QueuedPod>(isBefore);
  readonly #backoff = new Map<string, { readonly entry: QueuedPod; readonly at: number }>();
  /** Timers by the time at which backoffs end. */
  readonly #ticks = new Map<number, () => void>();
  readonly #unschedulable = new Map<string, QueuedPod>();
  #wake: (() => void) | undefined;
  #moves = 0;
  #sequence = 0;
  #cancelSweep: () => void = () => undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#sweep();
    options.signal.addEventListener(
      "abort",
      () => {
        this.#cancelSweep();
        for (const cancel of this.#ticks.values()) cancel();
      },
      { once: true },
    );
  }

  get sizes(): { readonly active: number; readonly backoff: number; readonly unschedulable: number } {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size,
      unschedulable: this.#unschedulable.size,
    };
  }

  add(pod: SeenPod): void {
    const uid = pod.metadata.uid!;
    const queued = this.#find(uid);
    if (queued) {
      queued.pod = pod;
      return;
    }
    this.#activate("PodAdd", {
      pod,
      sequence: this.#sequence++,
      since: this.#options.clock.now(),
      attempts: 0,
      failedAt: 0,
      rejectedBy: new Set(),
      cycle: 0,
    });
  }

  /** Updates a pod; an unschedulable one is requeued if the change may make it fit. */
  update(pod: SeenPod, mayFit: boolean): void {
    const uid = pod.metadata.uid!;
    const queued = this.#find(uid);
    if (!queued) return this.add(pod);
    queued.pod = pod;
    if (mayFit && this.#unschedulable.delete(uid)) this.#requeue(queued, "PodUpdate");
  }

  delete(uid: string): void {
    this.#active.delete(uid);
    this.#backoff.delete(uid);
    this.#unschedulable.delete(uid);
  }

  /** Removes and returns the most important pod, waiting until there is one. */
  async take(): Promise<QueuedPod> {
    const { signal } = this.#options;
    while (this.#active.size === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const end = (): void => {
          signal.removeEventListener("abort", end);
          this.#wake = undefined;
          resolve();
        };
        this.#wake = end;
        signal.addEventListener("abort", end, { once: true });
      });
    }
    for (;;) {
      const next = this.#order.pop()!;
      const uid = next.pod.metadata.uid!;
      if (this.#active.get(uid) !== next) continue;
      this.#active.delete(uid);
      next.attempts++;
      next.cycle = this.#moves;
      return next;
    }
  }

  /**
   * Puts back an unschedulable pod. If events occurred during the attempt, it is requeued at once, since they
   * may have helped.
   */
  putBack(entry: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    entry.failedAt = this.#options.clock.monotonic();
    entry.rejectedBy = rejectedBy;
    // The pod was updated and queued again in the meantime.
    if (this.#find(entry.pod.metadata.uid!)) return;
    if (entry.cycle !== this.#moves) return this.#requeue(entry, attemptFailed);
    this.#options.incoming?.("unschedulable", attemptFailed);
    this.#unschedulable.set(entry.pod.metadata.uid!, entry);
  }

  /** Puts back a pod whose attempt failed with an error: it is retried after its backoff. */
  retry(entry: QueuedPod): void {
    entry.failedAt = this.#options.clock.monotonic();
    this.#requeue(entry, attemptFailed);
  }

  /** Requeues the unschedulable pods that the event may help and that are not ruled out by `mayFit`. */
  onEvent(event: ClusterEvent, mayFit: (pod: SeenPod) => boolean = () => true): void {
    const helped = this.#options.pluginsHelpedBy(event);
    this.#moves++;
    for (const [uid, entry] of this.#unschedulable) {
      const mayHelp =
        entry.rejectedBy.size === 0 || [...entry.rejectedBy].some((plugin) => helped.has(plugin));
      if (!mayHelp || !mayFit(entry.pod)) continue;
      this.#unschedulable.delete(uid);
      this.#requeue(entry, eventNames[event]);
    }
  }

  /** Returns all pods that did not fit, for metrics. */
  *unschedulable(): Iterable<QueuedPod> {
    yield* this.#unschedulable.values();
    for (const { entry } of this.#backoff.values()) yield entry;
  }

  #find(uid: string): QueuedPod | undefined {
    return this.#active.get(uid) ?? this.#backoff.get(uid)?.entry ?? this.#unschedulable.get(uid);
  }

  #activate(event: string, entry: QueuedPod): void {
    this.#options.incoming?.("active", event);
    this.#active.set(entry.pod.metadata.uid!, entry);
    this.#order.push(entry);
    this.#wake?.();
  }

  #requeue(entry: QueuedPod, event: string): void {
    const { clock, initialBackoffMilliseconds = 1000, maxBackoffMilliseconds = 10_000 } = this.#options;
    const wait = Math.min(
      maxBackoffMilliseconds,
      initialBackoffMilliseconds * 2 ** Math.min(entry.attempts - 1, 20),
    );
    const due = entry.failedAt + wait;
    if (due <= clock.monotonic()) return this.#activate(event, entry);
    this.#options.incoming?.("backoff", event);
    // Backoffs end together once a second, so that the most important pod is scheduled first.
    const at = Math.ceil(due / tickMilliseconds) * tickMilliseconds;
    this.#backoff.set(entry.pod.metadata.uid!, { entry, at });
    if (this.#ticks.has(at)) return;
    this.#ticks.set(
      at,
      clock.after(at - clock.monotonic(), () => this.#endBackoffs(at)),
    );
  }

  /**
   * Uses one timer for all backoffs that end together: with individual timers, the first pod could be taken
   * before the others are active.
   */
  #endBackoffs(at: number): void {
    this.#ticks.delete(at);
    for (const [uid, waiting] of this.#backoff) {
      if (waiting.at > at) continue;
      this.#backoff.delete(uid);
      this.#activate("BackoffComplete", waiting.entry);
    }
  }

  /** Requeues pods that have been unschedulable for long, even without an event. */
  #sweep(): void {
    const { clock, signal } = this.#options;
    this.#cancelSweep = clock.after(sweepMilliseconds, () => {
      for (const [uid, entry] of this.#unschedulable)
        if (clock.monotonic() - entry.failedAt > unschedulableMilliseconds) {
          this.#unschedulable.delete(uid);
          this.#requeue(entry, "UnschedulableTimeout");
        }
      if (!signal.aborted) this.#sweep();
    });
  }
}

const isBefore = (a: QueuedPod, b: QueuedPod): boolean =>
  priorityOf(a.pod) === priorityOf(b.pod) ? a.sequence < b.sequence : priorityOf(a.pod) > priorityOf(b.pod);
