// Replica calculations of the autoscaler, as pure functions.
import type { SeenPod } from "../pods.ts";
import { conditionOf, isDeleting, isReady, timeOf } from "../pods.ts";

export interface PodMetric {
  readonly value: number;
  /** Unix time in milliseconds. */
  readonly timestamp: number;
  readonly windowMilliseconds: number;
}
export type PodMetrics = ReadonlyMap<string, PodMetric>;

export interface CalculatorSettings {
  readonly tolerance: number;
  readonly cpuInitializationMilliseconds: number;
  readonly initialReadinessDelayMilliseconds: number;
}

export interface Proposal {
  readonly replicas: number;
  /** Percentage of the request, if the target is a utilization. */
  readonly utilization?: number;
  readonly averageValue: number;
}

interface Groups {
  readonly ready: Map<string, number>;
  readonly unready: string[];
  readonly missing: string[];
}

/** Groups pods into ready ones with metrics, unready ones, and those without metrics. */
export function groupPods(
  pods: readonly SeenPod[],
  metrics: PodMetrics,
  resource: string,
  now: number,
  settings: CalculatorSettings,
): Groups {
  const groups: Groups = { ready: new Map(), unready: [], missing: [] };
  for (const pod of pods) {
    const name = pod.metadata.name!;
    if (isDeleting(pod) || pod.status.phase === "Failed") continue;
    const metric = metrics.get(name);
    if (pod.status.phase === "Pending") groups.unready.push(name);
    else if (!metric) groups.missing.push(name);
    else if (resource === "cpu" && isUnready(pod, metric, now, settings)) groups.unready.push(name);
    else groups.ready.set(name, metric.value);
  }
  return groups;
}

function isUnready(
  { status }: SeenPod,
  metric: PodMetric,
  now: number,
  settings: CalculatorSettings,
): boolean {
  const ready = conditionOf(status.conditions, "Ready");
  if (!ready || !status.startTime) return true;
  const [started, changed] = [timeOf(status.startTime), timeOf(ready.lastTransitionTime)];
  if (started + settings.cpuInitializationMilliseconds > now)
    return ready.status === "False" || metric.timestamp < changed + metric.windowMilliseconds;
  return ready.status === "False" && started + settings.initialReadinessDelayMilliseconds > changed;
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** Returns the utilization as a percentage of requests, its ratio to the target, and the average usage. */
function utilizationOf(
  metrics: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
  target: number,
) {
  const used = sum(metrics.values());
  const requested = sum([...metrics.keys()].map((name) => requests.get(name) ?? 0));
  if (requested === 0) throw new Error("no metrics returned matched known pods");
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / target, utilization, averageValue: Math.trunc(used / metrics.size) };
}

export interface UtilizationInput {
  readonly current: number;
  readonly target: number;
  readonly pods: readonly SeenPod[];
  readonly metrics: PodMetrics;
  readonly requests: ReadonlyMap<string, number>;
  readonly resource: string;
  readonly now: number;
  readonly settings: CalculatorSettings;
}

export function replicasForUtilization(input: UtilizationInput): Proposal {
  const { current, target, pods, metrics, requests, resource, now, settings } = input;
  if (pods.length === 0) throw new Error("no pods returned by selector while calculating replica count");
  const { ready, unready, missing } = groupPods(pods, metrics, resource, now, settings);
  if (ready.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)");
  const first = utilizationOf(ready, requests, target);
  const { utilization, averageValue } = first;
  const fallback = Math.max(100, target);
  const replicas = adjusted(current, first.ratio, ready, { unready, missing }, settings.tolerance, {
    fill: (name) => Math.trunc(((requests.get(name) ?? 0) * fallback) / 100),
    ratioOf: (all) => utilizationOf(all, requests, target).ratio,
  });
  return { replicas, utilization, averageValue };
}

export function replicasForAverage(input: Omit<UtilizationInput, "requests">): Proposal {
  const { current, target, pods, metrics, resource, now, settings } = input;
  if (pods.length === 0) throw new Error("no pods returned by selector while calculating replica count");
  const { ready, unready, missing } = groupPods(pods, metrics, resource, now, settings);
  if (ready.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)");
  const ratioOf = (all: ReadonlyMap<string, number>): number =>
    Math.trunc(sum(all.values()) / all.size) / target;
  const averageValue = Math.trunc(sum(ready.values()) / ready.size);
  const replicas = adjusted(current, ratioOf(ready), ready, { unready, missing }, settings.tolerance, {
    fill: () => target,
    ratioOf,
  });
  return { replicas, averageValue };
}

/**
 * Recomputes conservatively: pods without metrics count as idle on scale-up and as fully used on scale-down,
 * and the result never reverses the direction.
 */
function adjusted(
  current: number,
  ratio: number,
  ready: ReadonlyMap<string, number>,
  { unready, missing }: Pick<Groups, "unready" | "missing">,
  tolerance: number,
  calculator: { fill: (name: string) => number; ratioOf: (all: ReadonlyMap<string, number>) => number },
): number {
  const isScaleUpWithUnready = unready.length > 0 && ratio > 1;
  if (!isScaleUpWithUnready && missing.length === 0)
    return Math.abs(1 - ratio) <= tolerance ? current : Math.ceil(ratio * ready.size);
  const all = new Map(ready);
  for (const name of missing) if (ratio !== 1) all.set(name, ratio < 1 ? calculator.fill(name) : 0);
  if (isScaleUpWithUnready) for (const name of unready) all.set(name, 0);
  const next = calculator.ratioOf(all);
  const isReversed = (ratio < 1 && next > 1) || (ratio > 1 && next < 1);
  if (Math.abs(1 - next) <= tolerance || isReversed) return current;
  const replicas = Math.ceil(next * all.size);
  return (next < 1 && replicas > current) || (next > 1 && replicas < current) ? current : replicas;
}

export interface ValueInput {
  readonly current: number;
  /** Ratio of the value to its target. */
  readonly ratio: number;
  readonly pods: readonly SeenPod[];
  readonly tolerance: number;
}

/**
 * Computes replicas from a metric that is shared by all replicas. Only ready pods have contributed to it, so
 * pods that are still starting do not multiply; a target without replicas is scaled up by the ratio alone.
 */
export function replicasForValue({ current, ratio, pods, tolerance }: ValueInput): number {
  if (current === 0) return Math.ceil(ratio);
  if (Math.abs(1 - ratio) <= tolerance) return current;
  if (pods.length === 0)
    throw new Error(
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    );
  const ready = pods.filter((pod) => pod.status.phase === "Running" && isReady(pod));
  return Math.ceil(ratio * ready.length);
}
