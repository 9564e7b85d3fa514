// Pods that wait for a node: ready to be tried, waiting out their back-off, or waiting for something to change.
import type { Clock } from "#base";
import type { ClusterEvent } from "./framework.ts";
import { Heap } from "./heap.ts";
import type { SeenPod } from "./node-info.ts";

export interface QueuedPod {
  pod: SeenPod;
  /** As which it first came, for the order among equals. */
  readonly sequence: number;
  /** When it first came, in milliseconds. */
  readonly since: number;
  attempts: number;
  /** When it was last found not to fit. */
  failedAt: number;
  /** Who rejected it; nobody means that anything may help. */
  rejectedBy: ReadonlySet<string>;
  /** How many moves had been made when its last attempt began. */
  cycle: number;
}

/** Tells into which queue a pod came, and by which event. */
export type IncomingPod = (queue: "active" | "backoff" | "unschedulable", event: string) => void;

export interface QueueOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Which plug-ins an event may help. */
  readonly helpedBy: (event: ClusterEvent) => ReadonlySet<string>;
  readonly incoming?: IncomingPod | undefined;
  readonly firstBackOffMilliseconds?: number;
  readonly longestBackOffMilliseconds?: number;
}

/** What changes in the cluster are called where pods that come into a queue are counted. */
const eventNames: Readonly<Record<ClusterEvent, string>> = {
  "node added": "NodeAdd",
  "node allocatable": "NodeAllocatableChange",
  "node labels": "NodeLabelChange",
  "node taints": "NodeTaintChange",
  "pod added": "AssignedPodAdd",
  "pod deleted": "AssignedPodDelete",
  volume: "PvUpdate",
  claim: "PvcUpdate",
  "storage class": "StorageClassAdd",
  "csi node": "CSINodeUpdate",
};
const attemptFailed = "ScheduleAttemptFailure";

const unschedulableMilliseconds = 5 * 60_000;
const sweepMilliseconds = 30_000;
const tickMilliseconds = 1000;

export const priorityOf = ({ spec }: SeenPod): number => spec.priority ?? 0;

export class SchedulingQueue {
  readonly #options: QueueOptions;
  readonly #active = new Map<string, QueuedPod>();
  /** Active pods, the next one first; entries that are no longer active are skipped. */
  readonly #order = new Heap<QueuedPod>(isBefore);
  readonly #backOff = new Map<string, { readonly entry: QueuedPod; readonly at: number }>();
  /** Timers by the time at which back-offs end. */
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
      backoff: this.#backOff.size,
      unschedulable: this.#unschedulable.size,
    };
  }

  add(pod: SeenPod): void {
    const uid = pod.metadata.uid!;
    const known = this.#find(uid);
    if (known) {
      known.pod = pod;
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

  /** A changed pod that did not fit may fit now. */
  update(pod: SeenPod, mayFit: boolean): void {
    const uid = pod.metadata.uid!;
    const known = this.#find(uid);
    if (!known) return this.add(pod);
    known.pod = pod;
    if (mayFit && this.#unschedulable.delete(uid)) this.#requeue(known, "PodUpdate");
  }

  delete(uid: string): void {
    this.#active.delete(uid);
    this.#backOff.delete(uid);
    this.#unschedulable.delete(uid);
  }

  /** The most important pod, as soon as there is one. */
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

  /** Puts back a pod that did not fit; what changed since its attempt began may have helped it already. */
  putBack(entry: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    entry.failedAt = this.#options.clock.now();
    entry.rejectedBy = rejectedBy;
    // It came again, changed, in the meantime.
    if (this.#find(entry.pod.metadata.uid!)) return;
    if (entry.cycle !== this.#moves) return this.#requeue(entry, attemptFailed);
    this.#options.incoming?.("unschedulable", attemptFailed);
    this.#unschedulable.set(entry.pod.metadata.uid!, entry);
  }

  /** Puts back a pod whose attempt failed for another reason: it is tried again after its back-off. */
  retry(entry: QueuedPod): void {
    entry.failedAt = this.#options.clock.now();
    this.#requeue(entry, attemptFailed);
  }

  /** Something changed: pods that it may help, and that are not ruled out, are tried again. */
  onEvent(event: ClusterEvent, mayFit: (pod: SeenPod) => boolean = () => true): void {
    const helped = this.#options.helpedBy(event);
    this.#moves++;
    for (const [uid, entry] of this.#unschedulable) {
      const mayHelp =
        entry.rejectedBy.size === 0 || [...entry.rejectedBy].some((plugin) => helped.has(plugin));
      if (!mayHelp || !mayFit(entry.pod)) continue;
      this.#unschedulable.delete(uid);
      this.#requeue(entry, eventNames[event]);
    }
  }

  /** All pods that did not fit, for those who ask why. */
  *unschedulable(): Iterable<QueuedPod> {
    yield* this.#unschedulable.values();
    for (const { entry } of this.#backOff.values()) yield entry;
  }

  #find(uid: string): QueuedPod | undefined {
    return this.#active.get(uid) ?? this.#backOff.get(uid)?.entry ?? this.#unschedulable.get(uid);
  }

  #activate(event: string, entry: QueuedPod): void {
    this.#options.incoming?.("active", event);
    this.#active.set(entry.pod.metadata.uid!, entry);
    this.#order.push(entry);
    this.#wake?.();
  }

  #requeue(entry: QueuedPod, event: string): void {
    const { clock, firstBackOffMilliseconds = 1000, longestBackOffMilliseconds = 10_000 } = this.#options;
    const wait = Math.min(
      longestBackOffMilliseconds,
      firstBackOffMilliseconds * 2 ** Math.min(entry.attempts - 1, 20),
    );
    const due = entry.failedAt + wait;
    if (due <= clock.now()) return this.#activate(event, entry);
    this.#options.incoming?.("backoff", event);
    // Pods leave their back-off together, once a second, so that the more important of them goes first.
    const at = Math.ceil(due / tickMilliseconds) * tickMilliseconds;
    this.#backOff.set(entry.pod.metadata.uid!, { entry, at });
    if (this.#ticks.has(at)) return;
    this.#ticks.set(
      at,
      clock.after(at - clock.now(), () => this.#endBackOffs(at)),
    );
  }

  /** One timer for all that end together: a timer each would let the first be taken before the others come. */
  #endBackOffs(at: number): void {
    this.#ticks.delete(at);
    for (const [uid, waiting] of this.#backOff) {
      if (waiting.at > at) continue;
      this.#backOff.delete(uid);
      this.#activate("BackoffComplete", waiting.entry);
    }
  }

  /** Pods that have waited long are tried again although nothing seems to have changed. */
  #sweep(): void {
    const { clock, signal } = this.#options;
    this.#cancelSweep = clock.after(sweepMilliseconds, () => {
      for (const [uid, entry] of this.#unschedulable)
        if (clock.now() - entry.failedAt > unschedulableMilliseconds) {
          this.#unschedulable.delete(uid);
          this.#requeue(entry, "UnschedulableTimeout");
        }
      if (!signal.aborted) this.#sweep();
    });
  }
}

const isBefore = (a: QueuedPod, b: QueuedPod): boolean =>
  priorityOf(a.pod) === priorityOf(b.pod) ? a.sequence < b.sequence : priorityOf(a.pod) > priorityOf(b.pod);
