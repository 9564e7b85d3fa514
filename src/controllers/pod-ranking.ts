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

/** Negative when `a` goes before `b`. */
export function compareForDeletion(a: RankedPod, b: RankedPod, annotation: string, now: number): number {
  const order = [
    Number(Boolean(a.pod.spec.nodeName)) - Number(Boolean(b.pod.spec.nodeName)),
    (phases[a.pod.status.phase ?? ""] ?? 0) - (phases[b.pod.status.phase ?? ""] ?? 0),
    Number(isReady(a.pod)) - Number(isReady(b.pod)),
    deletionCost(a.pod, annotation) - deletionCost(b.pod, annotation),
    b.sameNode - a.sameNode,
    isReady(a.pod) && isReady(b.pod) ? compareTimes(readySince(a.pod), readySince(b.pod), a, b, now) : 0,
    restartsOf(b.pod) - restartsOf(a.pod),
    compareTimes(createdAt(a.pod), createdAt(b.pod), a, b, now),
  ];
  return order.find((each) => each !== 0) ?? 0;
}

/** The younger goes first; an unknown time counts as younger. */
function compareTimes(x: number, y: number, a: RankedPod, b: RankedPod, now: number): number {
  if (x === y) return 0;
  if (x === 0 || y === 0) return x === 0 ? -1 : 1;
  const [first, second] = [logBucket(now, x), logBucket(now, y)];
  if (first !== second) return first - second;
  return (a.pod.metadata.uid ?? "") < (b.pod.metadata.uid ?? "") ? -1 : 1;
}
