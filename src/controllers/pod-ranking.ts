// Which of a set's pods go first when there are too many.
import type { SeenPod } from "./pods.ts";
import { createdAt, isReady, readySince, restartsOf } from "./pods.ts";

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

export interface RankedPod {
  readonly pod: SeenPod;
  /** Pods of the set and its siblings on the same node. */
  readonly sameNode: number;
}

/** A whole number without sign or leading zeros; anything else counts as none. */
export function deletionCost({ metadata }: SeenPod, annotation: string): number {
  const text = metadata.annotations?.[annotation];
  if (text === undefined || !/^-?(0|[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/** Times are compared on a logarithmic scale, so that pods of about the same age go by their uid. */
const logBucket = (now: number, at: number): number =>
  at === 0 ? 0 : Math.floor(Math.log2(Math.max(1, (now - at) * 1_000_000)));

type Order = (a: number, b: number) => number;
const youngerFirst: Order = (x, y) => y - x;

export interface RankingRules {
  readonly now: number;
  /** The annotation with the cost of a deletion; undefined where costs do not count. */
  readonly costAnnotation: string | undefined;
  /** Whether times count on a logarithmic scale, or to the second. */
  readonly logarithmic: boolean;
}

/** Negative when `a` goes before `b`. */
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

/** The same for pods of a job: neither cost nor node count, and times count to the second. */
export const compareByAge = (a: SeenPod, b: SeenPod): number =>
  firstOf([byStage(a, b), byTimes(a, b, youngerFirst)]);

const firstOf = (order: readonly number[]): number => order.find((each) => each !== 0) ?? 0;

const byStage = (a: SeenPod, b: SeenPod): number =>
  firstOf([
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)),
    (phases[a.status.phase ?? ""] ?? 0) - (phases[b.status.phase ?? ""] ?? 0),
    Number(isReady(a)) - Number(isReady(b)),
  ]);

/** The younger goes first, and of equally ready ones that which restarted more. */
const byTimes = (a: SeenPod, b: SeenPod, order: Order): number =>
  firstOf([
    isReady(a) && isReady(b) ? byTime(readySince(a), readySince(b), order) : 0,
    restartsOf(b) - restartsOf(a),
    byTime(createdAt(a), createdAt(b), order),
  ]);

/** An unknown time counts as younger. */
function byTime(x: number, y: number, order: Order): number {
  if (x === y) return 0;
  return x === 0 || y === 0 ? (x === 0 ? -1 : 1) : order(x, y);
}
