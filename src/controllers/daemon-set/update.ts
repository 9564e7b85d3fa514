// Rolling updates of daemons, as a pure function: which pods to delete and on which nodes to create a second
// one.
import { type SeenPod, createdAt, isAvailable, isDeleting } from "../pods.ts";
import { scaledValue } from "../deployment/rollout.ts";
import { type SeenDaemonSet, generationAnnotation, generationLabel, hashLabel } from "./nodes.ts";

export interface UpdateFacts {
  readonly set: SeenDaemonSet;
  readonly hash: string;
  readonly podsByNode: ReadonlyMap<string, readonly SeenPod[]>;
  /** Number of nodes that should run a daemon. */
  readonly desired: number;
  readonly shouldRun: (node: string) => boolean;
  readonly now: number;
}

export interface UpdatePlan {
  readonly remove: readonly SeenPod[];
  readonly createOn: readonly string[];
}

export function isUpdated({ metadata }: SeenPod, set: SeenDaemonSet, hash: string): boolean {
  const generation = set.metadata.annotations?.[generationAnnotation];
  return (
    metadata.labels?.[hashLabel] === hash ||
    (generation !== undefined && metadata.labels?.[generationLabel] === generation)
  );
}

export const surgeOf = ({ spec }: SeenDaemonSet, desired: number): number =>
  spec.updateStrategy.type === "RollingUpdate"
    ? scaledValue(spec.updateStrategy.rollingUpdate?.maxSurge, desired, true)
    : 0;

/** Orders pods assigned to a node first, then by age. */
export const byAgeAndPhase = (a: SeenPod, b: SeenPod): number =>
  Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName)) ||
  createdAt(a) - createdAt(b) ||
  (a.metadata.name! < b.metadata.name! ? -1 : 1);

interface Pair {
  readonly newPod?: SeenPod;
  readonly oldPod?: SeenPod;
}

/** Returns the updated and the outdated pod of a node; undefined if there are several of either. */
function pairOf(pods: readonly SeenPod[], set: SeenDaemonSet, hash: string): Pair | undefined {
  const alive = pods.filter((pod) => !isDeleting(pod));
  const updated = alive.filter((pod) => isUpdated(pod, set, hash));
  const outdated = alive.filter((pod) => !isUpdated(pod, set, hash));
  if (updated.length > 1 || outdated.length > 1) return undefined;
  return { ...(updated[0] && { newPod: updated[0] }), ...(outdated[0] && { oldPod: outdated[0] }) };
}

export function planUpdate(facts: UpdateFacts): UpdatePlan {
  const { set, desired } = facts;
  const surge = surgeOf(set, desired);
  const unavailable = scaledValue(set.spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 0, desired, true);
  return surge > 0 ? planSurge(facts, surge) : planReplace(facts, unavailable === 0 ? 1 : unavailable);
}

function planReplace({ set, hash, podsByNode, now }: UpdateFacts, maxUnavailable: number): UpdatePlan {
  const available = (pod: SeenPod): boolean => isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  let unavailable = 0;
  const unavailablePods: SeenPod[] = [];
  const candidates: SeenPod[] = [];
  for (const pods of podsByNode.values()) {
    const pair = pairOf(pods, set, hash);
    if (!pair || Boolean(pair.newPod) === Boolean(pair.oldPod)) unavailable++;
    else if (pair.newPod) unavailable += available(pair.newPod) ? 0 : 1;
    else (available(pair.oldPod!) ? candidates : unavailablePods).push(pair.oldPod!);
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { remove: [...unavailablePods, ...candidates.slice(0, room)], createOn: [] };
}

function planSurge(
  { set, hash, podsByNode, desired, shouldRun, now }: UpdateFacts,
  maxSurge: number,
): UpdatePlan {
  const available = (pod: SeenPod | undefined): boolean =>
    pod !== undefined && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const remove: SeenPod[] = [];
  const unwanted: SeenPod[] = [];
  const unavailableOn: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let availableCount = 0;
  for (const [node, pods] of podsByNode) {
    const pair = pairOf(pods, set, hash);
    if (!pair) {
      surging++;
      continue;
    }
    const { newPod, oldPod } = pair;
    if (available(oldPod ?? newPod)) availableCount++;
    if (!oldPod) continue;
    if (newPod) {
      if (available(newPod)) remove.push(oldPod);
      else surging++;
    } else if (!shouldRun(node)) (available(oldPod) ? unwanted : remove).push(oldPod);
    else (available(oldPod) ? candidates : unavailableOn).push(node);
  }
  const surplus = Math.max(0, availableCount - desired);
  return {
    remove: [...remove, ...unwanted.slice(0, surplus)],
    createOn: [...unavailableOn, ...candidates.slice(0, Math.max(0, maxSurge - surging))],
  };
}
