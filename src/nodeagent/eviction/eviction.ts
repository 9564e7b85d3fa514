// Node-pressure eviction. One pass observes the signals, reclaims unused containers and images, and evicts at
// most one pod for a threshold, or every pod that exceeds its limit of local storage.
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import type { Dialect } from "#dialect";
import { isCritical, keyOf, referenceTo, uidOf } from "../pod.ts";
import type { EventRecorder, PodEvictor } from "../interfaces.ts";
import { killTimeoutSeconds } from "../worker/kill-timeout.ts";
import { hasStorageLimit, localStorageExcess } from "./local-storage.ts";
import { evictionMessage } from "./message.ts";
import type { Observations } from "./observations.ts";
import { type PressureRules, metThresholds, nextPressure, noPressure, reclaimsImages } from "./pressure.ts";
import { rank } from "./rank.ts";
import { type Signal, type Threshold, isHard } from "./thresholds.ts";
import { type MeasuredPod, resourceOf } from "./usage.ts";

export interface EvictionOptions extends PressureRules {
  readonly clock: Clock;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly events: EventRecorder;
  /** Grace period of a soft eviction in seconds; 0 or negative uses the pod's own. */
  readonly maxPodGraceSeconds: number;
  /** Whether limits of local storage are enforced. */
  readonly localStorage: boolean;
  /** Whether an evicted pod gets the condition DisruptionTarget. */
  readonly disruptionConditions: boolean;
  readonly observe: (signal: AbortSignal) => Promise<Observations>;
  /** Returns the pods that are not finished. */
  readonly pods: () => readonly Pod[];
  readonly measure: (pods: readonly Pod[]) => Promise<readonly MeasuredPod[]>;
  /**
   * Reports whether images are on a dedicated file system; undefined while the runtime has not reported it.
   */
  readonly dedicatedImageFs: () => boolean | undefined;
  /** Removes dead containers and unused images. */
  readonly reclaimUnused: (signal: AbortSignal) => Promise<void>;
  readonly evictor: PodEvictor;
  /** Whether memory is checked every second between passes. */
  readonly watchMemory?: boolean;
  readonly onPressure?: () => void;
  readonly onEvicted?: (signal: string) => void;
}

export interface Eviction {
  /** Returns the current pressure conditions, by their types in the node status. */
  pressures(): readonly string[];
  /** Observes once without evicting, so that pressure is known before the first pod is admitted. */
  prime(signal: AbortSignal): Promise<void>;
  /** Runs one pass and returns the evicted pods. */
  pass(signal: AbortSignal): Promise<readonly Pod[]>;
  /** Runs passes until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the order in which pods would be evicted now, for each signal. */
  preview(signal: AbortSignal): Promise<EvictionPreview>;
}

export interface EvictionPreview {
  readonly observations: Observations;
  readonly thresholds: readonly Threshold[];
  readonly met: readonly Threshold[];
  readonly pressures: readonly string[];
  readonly order: ReadonlyMap<Signal, readonly MeasuredPod[]>;
}

const periodMilliseconds = 10_000;
const secondMilliseconds = 1000;
/** How long a pass waits for evicted pods in addition to their kill timeout. */
const cleanupMilliseconds = 30_000;
const reason = "Evicted";

export function eviction(options: EvictionOptions): Eviction {
  const { clock, log, dialect, events, evictor } = options;
  let state = noPressure;

  const hasDedicatedImageFs = (): boolean => options.dedicatedImageFs() ?? false;

  return { pressures: () => state.pressures, prime, pass, run, preview };

  async function prime(signal: AbortSignal): Promise<void> {
    observe(await options.observe(signal));
    // The first pass must treat the same observations as new, or it would not evict.
    state = { ...state, observations: new Map() };
  }

  function observe(observations: Observations): readonly Threshold[] {
    const before = state.pressures;
    const { state: after, reclaim } = nextPressure(state, options, observations, clock.monotonic());
    state = after;
    if (after.pressures.join() !== before.join()) options.onPressure?.();
    return reclaim;
  }

  async function pass(signal: AbortSignal): Promise<readonly Pod[]> {
    if (options.thresholds.length === 0 && !options.localStorage) return [];
    const observations = await options.observe(signal);
    const reclaim = observe(observations);
    const pods = options.pods();
    const limited = options.localStorage ? pods.filter(hasLocalLimit) : [];
    if (limited.length > 0) {
      const evicted = await enforceLimits(await options.measure(limited), signal);
      if (evicted.length > 0) return evicted;
    }
    const [first] = reclaim;
    if (!first) return [];
    const resource = resourceOf[first.signal];
    log.info("eviction threshold met", { signal: first.signal, resource });
    events.event(nodeReference(), "Warning", "EvictionThresholdMet", `Attempting to reclaim ${resource}`);
    if (reclaimsImages(first.signal, hasDedicatedImageFs()) && (await freedByReclaim(signal))) return [];
    const ranked = rank(first.signal, await options.measure(pods), hasDedicatedImageFs());
    for (const measured of ranked) {
      if (isCritical(measured.pod, dialect)) continue;
      await evictFor(measured, first, [first, ...reclaim.slice(1)], observations, signal);
      return [measured.pod];
    }
    log.warn("no pod can be evicted", { signal: first.signal });
    return [];
  }

  /** Reports whether removing unused containers and images was sufficient. */
  async function freedByReclaim(signal: AbortSignal): Promise<boolean> {
    await options
      .reclaimUnused(signal)
      .catch((error: unknown) => log.warn("failed to remove some unused containers and images", { error }));
    return metThresholds(options.thresholds, await options.observe(signal), true).length === 0;
  }

  async function evictFor(
    measured: MeasuredPod,
    threshold: Threshold,
    thresholds: readonly Threshold[],
    observations: Observations,
    signal: AbortSignal,
  ): Promise<void> {
    const { message, annotations } = evictionMessage(measured, thresholds, observations);
    const graceSeconds = isHard(threshold) ? 0 : Math.max(0, options.maxPodGraceSeconds);
    options.onEvicted?.(threshold.signal);
    const disruption = options.disruptionConditions
      ? { reason: `TerminationBy${dialect.spelling.word("NodeAgent")}`, message }
      : undefined;
    await evictPod(measured.pod, { message, annotations, graceSeconds, disruption }, signal);
  }

  async function enforceLimits(
    measured: readonly MeasuredPod[],
    signal: AbortSignal,
  ): Promise<readonly Pod[]> {
    const over = measured.flatMap(({ pod, usage }) => {
      const excess =
        usage && !isCritical(pod, dialect) && localStorageExcess(pod, usage, hasDedicatedImageFs());
      return excess ? [{ pod, excess }] : [];
    });
    await Promise.all(
      over.map(async ({ pod, excess }) => {
        options.onEvicted?.(excess.signal);
        await evictPod(pod, { message: excess.message, graceSeconds: 0 }, signal);
      }),
    );
    return over.map(({ pod }) => pod);
  }

  /** Evicts a pod and waits, with a timeout, until its containers have exited. */
  async function evictPod(
    pod: Pod,
    how: {
      readonly message: string;
      readonly graceSeconds: number;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly disruption?: { readonly reason: string; readonly message: string } | undefined;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { message, graceSeconds, annotations, disruption } = how;
    events.event(referenceTo(pod), "Warning", reason, message, undefined, { annotations });
    log.info("evicting pod", { pod: keyOf(pod), message });
    const limit = new AbortController();
    const milliseconds = killTimeoutSeconds(graceSeconds) * 1000 + cleanupMilliseconds;
    const cancel = clock.after(milliseconds, () => limit.abort());
    try {
      await evictor.evict(
        uidOf(pod),
        { reason, message, graceSeconds, ...(disruption && { disruption }) },
        AbortSignal.any([signal, limit.signal]),
      );
    } finally {
      cancel();
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const evicted = await pass(signal).catch((error: unknown) => {
        if (!signal.aborted) log.error("eviction pass failed", { error: (error as Error).message });
        return [];
      });
      // After an eviction the next pass follows soon: one pod may not be enough.
      if (evicted.length > 0) await clock.sleep(secondMilliseconds, signal).catch(() => undefined);
      else if (options.watchMemory) await untilMemoryIsShort(signal);
      else await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    }
  }

  /** Waits for the next pass, or until a memory threshold is newly met. */
  async function untilMemoryIsShort(signal: AbortSignal): Promise<void> {
    const ofMemory = options.thresholds.filter((one) => resourceOf[one.signal] === "memory");
    const end = clock.monotonic() + periodMilliseconds;
    while (!signal.aborted && clock.monotonic() < end) {
      await clock.sleep(secondMilliseconds, signal).catch(() => undefined);
      const observations = await options.observe(signal).catch(() => undefined);
      if (
        observations &&
        metThresholds(ofMemory, observations, false).some((one) => !state.firstMetAt.has(one))
      )
        return;
    }
  }

  async function preview(signal: AbortSignal): Promise<EvictionPreview> {
    const observations = await options.observe(signal);
    const measured = await options.measure(options.pods());
    const evictable = measured.filter(({ pod }) => !isCritical(pod, dialect));
    const inUse = [...new Set(options.thresholds.map(({ signal: name }) => name))];
    return {
      observations,
      thresholds: options.thresholds,
      met: metThresholds(options.thresholds, observations, false),
      pressures: state.pressures,
      order: new Map(inUse.map((name) => [name, rank(name, evictable, hasDedicatedImageFs())])),
    };
  }

  function nodeReference(): { kind: string; name: string; uid: string } {
    return { kind: "Node", name: options.nodeName, uid: options.nodeName };
  }
}

const hasLocalLimit = (pod: Pod): boolean =>
  hasStorageLimit(pod) || (pod.spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined);
