// Chooses the pods to preempt for a critical pod: as few as possible, lower QoS classes first.
import type { Pod } from "#api";
import type { Dialect } from "#dialect";
import { type QosClass, qosClass } from "../plan/qos.ts";
import { isCritical } from "../pod.ts";
import { podRequests } from "../plan/pod-resources.ts";
import type { Shortage } from "./fit.ts";

/** Amounts still to be freed, by resource. */
type Needs = ReadonlyMap<string, number>;

/** Returns the pods to preempt for `pod`. Throws if all preemptible pods together would not free enough. */
export function podsToPreempt(
  pod: Pod,
  others: readonly Pod[],
  lacking: readonly Shortage[],
  dialect: Dialect,
): Pod[] {
  const needs: Needs = new Map(
    lacking.map(({ resource, requested, used, capacity }) => [resource, requested - (capacity - used)]),
  );
  const preemptible = others.filter((other) => isPreemptible(pod, other, dialect));
  const [bestEffort, burstable, guaranteed] = (["BestEffort", "Burstable", "Guaranteed"] as const).map(
    (qos: QosClass) => preemptible.filter((other) => qosClass(other) === qos),
  ) as [Pod[], Pod[], Pod[]];
  throwIfUnmet(freed(needs, preemptible));
  const chosenGuaranteed = choosePods(guaranteed, freed(needs, [...bestEffort, ...burstable]));
  const chosenBurstable = choosePods(burstable, freed(needs, [...bestEffort, ...chosenGuaranteed]));
  const chosenBestEffort = choosePods(bestEffort, freed(needs, [...chosenBurstable, ...chosenGuaranteed]));
  return [...chosenBestEffort, ...chosenBurstable, ...chosenGuaranteed];
}

function isPreemptible(pod: Pod, other: Pod, dialect: Dialect): boolean {
  if (isCritical(pod, dialect) && !isCritical(other, dialect)) return true;
  const [own, its] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && its !== undefined && Number(own) > Number(its);
}

const amountOf = (pod: Pod, resource: string): number =>
  resource === "pods" ? 1 : (podRequests(pod).get(resource) ?? 0);

/** Returns the remaining needs once these pods are gone. */
function freed(needs: Needs, pods: readonly Pod[]): Needs {
  const left = [...needs].map(
    ([resource, amount]) =>
      [resource, pods.reduce((rest, pod) => rest - amountOf(pod, resource), amount)] as const,
  );
  return new Map(left.filter(([, amount]) => amount > 0));
}

/** Greedily chooses the pod that frees most of the remaining needs; the smaller one of equals. */
function choosePods(candidates: readonly Pod[], needs: Needs): Pod[] {
  const pods = [...candidates];
  const chosen: Pod[] = [];
  for (let left = needs; left.size > 0;) {
    if (pods.length === 0) throwIfUnmet(left);
    let best = 0;
    for (const [at, pod] of pods.entries()) {
      const nearer = distance(pod, left) - distance(pods[best]!, left);
      if (nearer < 0 || (nearer === 0 && isSmaller(pod, pods[best]!))) best = at;
    }
    const [pod] = pods.splice(best, 1);
    chosen.push(pod!);
    left = freed(left, [pod!]);
  }
  return chosen;
}

/** Returns the distance from meeting all needs, each weighted equally regardless of its unit. */
function distance(pod: Pod, needs: Needs): number {
  let sum = 0;
  for (const [resource, amount] of needs)
    sum += (Math.max(0, amount - amountOf(pod, resource)) / amount) ** 2;
  return sum;
}

function isSmaller(one: Pod, other: Pod): boolean {
  for (const resource of ["memory", "cpu"]) {
    const difference = amountOf(one, resource) - amountOf(other, resource);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function throwIfUnmet(left: Needs): void {
  if (left.size === 0) return;
  const text = [...left].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join("");
  throw new Error(`no set of running pods found to reclaim resources: [${text}]`);
}
