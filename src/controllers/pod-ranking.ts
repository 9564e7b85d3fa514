// The order in which a set's surplus pods are deleted.
import type { SeenPod } from "./pods.ts";
import { createdAt, isReady, readySince, restartsOf } from "./pods.ts";

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

export interface RankedPod {
  readonly pod: SeenPod;
  /** Number of pods of the set and its siblings on the same node. */
  readonly sameNode: number;
}

/** Returns the deletion cost; a value that is not a canonical 32-bit integer counts as 0. */
export function deletionCost({ metadata }: SeenPod, annotation: string): number {
  const text = metadata.annotations?.[annotation];
  if (text === undefined || !/^-?(0|[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/**
 * Returns the bucket of a time on a logarithmic scale, so that pods of about the same age are ordered by uid.
 */
const logBucket = (now: number, at: number): number =>
  at === 0 ? 0 : Math.floor(Math.log2(Math.max(1, (now - at) * 1_000_000)));

type Order = (a: number, b: number) => number;
const youngerFirst: Order = (x, y) => y - x;

export interface RankingRules {
  readonly now: number;
  /** The deletion cost annotation; undefined if costs are disabled. */
  readonly costAnnotation: string | undefined;
  /** Whether times are compared on a logarithmic scale instead of exactly. */
  readonly logarithmic: boolean;
}

/** Compares for deletion: negative if `a` is to be deleted before `b`. */
export function compareForDeletion(a: RankedPod, b: RankedPod, rules: RankingRules): number {
  const { costAnnotation, logarithmic, now } = rules;
  const byBucket: Order = (x, y) => {
    const [first, second] = [logBucket(now, x), logBucket(now, y)];
    if (first !== second) return first - second;
    return (a.pod.metadata.uid ?? "") < (b.pod.metadata.uid ?? "") ? -1 : 1;
  };
  return firstOf([
    byStage(a.pod, b.pod),
    costAnnotation === undefined
      ? 0
      : deletionCost(a.pod, costAnnotation) - deletionCost(b.pod, costAnnotation),
    b.sameNode - a.sameNode,
    byTimes(a.pod, b.pod, logarithmic ? byBucket : youngerFirst),
  ]);
}

/** The same for pods of a job, without costs and node counts, comparing exact times. */
export const compareByAge = (a: SeenPod, b: SeenPod): number =>
  firstOf([byStage(a, b), byTimes(a, b, youngerFirst)]);

const firstOf = (order: readonly number[]): number => order.find((each) => each !== 0) ?? 0;

const byStage = (a: SeenPod, b: SeenPod): number =>
  firstOf([
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)),
    (phases[a.status.phase ?? ""] ?? 0) - (phases[b.status.phase ?? ""] ?? 0),
    Number(isReady(a)) - Number(isReady(b)),
  ]);

/** Deletes the younger first, and of equally ready pods the one with more restarts. */
const byTimes = (a: SeenPod, b: SeenPod, order: Order): number =>
  firstOf([
    isReady(a) && isReady(b) ? byTime(readySince(a), readySince(b), order) : 0,
    restartsOf(b) - restartsOf(a),
    byTime(createdAt(a), createdAt(b), order),
  ]);

/** Compares times; an unknown time (0) counts as younger. */
function byTime(x: number, y: number, order: Order): number {
  if (x === y) return 0;
  return x === 0 || y === 0 ? (x === 0 ? -1 : 1) : order(x, y);
}
