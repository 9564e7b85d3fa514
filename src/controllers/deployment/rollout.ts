// Rollout arithmetic, as pure functions: the sizes of a deployment's replica sets.
import type { Deployment, ReplicaSet } from "#api";
import type { AnyObject } from "#client";
import { isPercent } from "#base";

export type SeenDeployment = Deployment & AnyObject;
export type SeenReplicaSet = ReplicaSet & AnyObject;

export const replicasOf = ({ spec }: Pick<ReplicaSet, "spec"> | Pick<Deployment, "spec">): number =>
  spec.replicas ?? 1;
export const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (of(set) ?? 0), 0);

/** Resolves an absolute number or a percentage of `total`. */
export function scaledValue(value: number | string | null | undefined, total: number, up: boolean): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "number") return value;
  if (!isPercent(value)) return Number.parseInt(value, 10) || 0;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return up ? Math.ceil(share) : Math.floor(share);
}

const isRolling = ({ spec }: Deployment): boolean => spec.strategy.type !== "Recreate";

/**
 * Surge is rounded up and unavailability down; if both are zero, one unavailable pod is allowed to make
 * progress possible.
 */
function bounds(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = deployment.spec.strategy.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, replicasOf(deployment), true);
  const unavailable = scaledValue(maxUnavailable, replicasOf(deployment), false);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export const maxSurge = (deployment: Deployment): number =>
  isRolling(deployment) ? bounds(deployment).surge : 0;
export const maxUnavailable = (deployment: Deployment): number =>
  !isRolling(deployment) || replicasOf(deployment) === 0
    ? 0
    : Math.min(bounds(deployment).unavailable, replicasOf(deployment));
export const maxReplicas = (deployment: Deployment): number => replicasOf(deployment) + maxSurge(deployment);

/** Returns the size to which the new set may be scaled now. */
export function newSetSize(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  if (!isRolling(deployment)) return replicasOf(deployment);
  const total = sum(all, replicasOf);
  if (total >= maxReplicas(deployment)) return current;
  return current + Math.min(maxReplicas(deployment) - total, replicasOf(deployment) - current);
}

/** Returns the changed sizes of old sets after one step of a rolling update. */
export function shrinkOldSets(
  deployment: Deployment,
  oldSets: readonly SeenReplicaSet[],
  newSet: SeenReplicaSet,
): Map<SeenReplicaSet, number> {
  const sizes = new Map(oldSets.toSorted(byAge).map((set) => [set, replicasOf(set)]));
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable = replicasOf(newSet) - (newSet.status.availableReplicas ?? 0);
  const total = sum(oldSets, replicasOf) + replicasOf(newSet);
  let unhealthyLeft = total - minAvailable - newUnavailable;
  if (sum(oldSets, replicasOf) === 0 || unhealthyLeft <= 0) return new Map();
  // Scale down unavailable pods first: this does not affect availability.
  for (const [set, size] of sizes) {
    const unhealthy = size - (set.status.availableReplicas ?? 0);
    const count = Math.min(unhealthyLeft, unhealthy);
    if (size === 0 || count <= 0) continue;
    sizes.set(set, size - count);
    unhealthyLeft -= count;
  }
  let availableLeft = sum([...oldSets, newSet], ({ status }) => status.availableReplicas) - minAvailable;
  for (const [set, size] of sizes) {
    const count = Math.min(size, availableLeft);
    if (count <= 0) continue;
    sizes.set(set, size - count);
    availableLeft -= count;
  }
  return new Map([...sizes].filter(([set, size]) => size !== replicasOf(set)));
}

/** Distributes a change of the deployment's size proportionally over its active sets. */
export function proportionalSizes(
  deployment: Deployment,
  active: readonly SeenReplicaSet[],
  maxAnnotation: (set: SeenReplicaSet) => number | undefined,
): Map<SeenReplicaSet, number> {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? maxReplicas(deployment) : 0;
  const toAdd = allowed - sum(active, replicasOf);
  const sorted = active.toSorted((a, b) =>
    replicasOf(a) === replicasOf(b) ? (toAdd > 0 ? byAge(b, a) : byAge(a, b)) : replicasOf(b) - replicasOf(a),
  );
  let added = 0;
  const sizes = new Map<SeenReplicaSet, number>();
  for (const set of sorted) {
    const size = replicasOf(set);
    const annotated = maxAnnotation(set) ?? deployment.status.replicas ?? 0;
    const fraction =
      wanted === 0 ? -size : Math.round((size * maxReplicas(deployment)) / (annotated || 1)) - size;
    const share =
      toAdd === 0 ? 0 : toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
    sizes.set(set, size + share);
    added += share;
  }
  const largest = sorted[0];
  if (largest && toAdd !== 0) sizes.set(largest, Math.max(0, sizes.get(largest)! + toAdd - added));
  return sizes;
}

export const byAge = (a: AnyObject, b: AnyObject): number => {
  const [x, y] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return x === y ? (a.metadata.name! < b.metadata.name! ? -1 : 1) : x < y ? -1 : 1;
};
