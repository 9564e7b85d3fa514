// Preemption: selects the lower-priority pods to delete, on the node where this has the least impact.
import type { PodDisruptionBudget } from "#api";
import type { AnyObject } from "#client";
import type { Plugin, Snapshot } from "./framework.ts";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import {
  type FilterFailures,
  type Nominated,
  filterWithNominated,
  rejectionOfPod,
  viewsOf,
  viewsWithNode,
} from "./placement.ts";
import type { CycleMetrics, ObservedView } from "./plugin-metrics.ts";
import { selectsLabels } from "./plugins/inter-pod-affinity.ts";
import { priorityOf } from "./scheduling-queue.ts";

/** Reason of the condition DisruptionTarget of preempted pods. */
export const preemptionReason = "PreemptionByScheduler";

export interface Candidate {
  readonly node: string;
  readonly victims: readonly SeenPod[];
  readonly budgetViolations: number;
}

export type PreemptionResult =
  | { readonly candidate: Candidate }
  /** `isEligible`: no node would have room, so that an earlier nomination is void. */
  | { readonly candidate: undefined; readonly message: string; readonly isEligible: boolean };

/** How many nodes with victims are compared: the larger of a number, and a percentage of all nodes. */
export interface CandidateLimits {
  readonly percentage: number;
  readonly absolute: number;
}
export const defaultCandidateLimits: CandidateLimits = { percentage: 10, absolute: 100 };

export interface PreemptionOptions {
  readonly plugins: readonly Plugin[];
  readonly nominated: Nominated;
  readonly budgets: readonly (PodDisruptionBudget & AnyObject)[];
  readonly limits?: CandidateLimits | undefined;
  /** Returns a number between 0 and 1, which chooses the first node to check. */
  readonly random?: () => number;
  /** Records calls of filters. */
  readonly cycle?: CycleMetrics | undefined;
}

export const startedAt = ({ status, metadata }: SeenPod): string =>
  status.startTime ?? metadata.creationTimestamp ?? "";

/** Orders pods by importance: higher priority first, then earlier start. */
export const byImportance = (a: SeenPod, b: SeenPod): number =>
  priorityOf(b) - priorityOf(a) || (startedAt(a) < startedAt(b) ? -1 : 1);

export function preempt(
  pod: SeenPod,
  snapshot: Snapshot,
  failures: FilterFailures,
  options: PreemptionOptions,
): PreemptionResult {
  const notPossible = (why: string, isEligible = true): PreemptionResult => ({
    candidate: undefined,
    message: `preemption: ${why}`,
    isEligible,
  });
  if (pod.spec.preemptionPolicy === "Never")
    return notPossible("not eligible due to preemptionPolicy=Never.", false);
  const nominatedNode = snapshot.nodes.get(pod.status.nominatedNodeName ?? "");
  const isTerminating =
    nominatedNode &&
    !failures.byNode.get(nominatedNode.name)?.isFinal &&
    [...nominatedNode.pods.values()].some(
      (each) => priorityOf(each) < priorityOf(pod) && isPreempted(each, snapshot),
    );
  if (isTerminating)
    return notPossible("not eligible due to a terminating pod on the nominated node.", false);
  const total = snapshot.nodes.size;
  if (failures.forAll?.isFinal)
    return notPossible(`0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`);
  const candidates: Candidate[] = [];
  const reasons = new Map<string, number>();
  const countReason = (reason: string): void => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const helpful = failures.forAll
    ? [...snapshot.nodes.keys()]
    : [...failures.byNode].filter(([, { isFinal }]) => !isFinal).map(([name]) => name);
  for (let remaining = total - helpful.length; remaining > 0; remaining--)
    countReason("Preemption is not helpful for scheduling");
  const { percentage, absolute } = options.limits ?? defaultCandidateLimits;
  const wanted = Math.max(Math.trunc((total * percentage) / 100), absolute);
  const views = viewsOf(pod, snapshot, options.plugins, options.cycle?.simulatedView);
  const start = Math.floor((options.random?.() ?? 0) * helpful.length);
  for (let index = 0; index < helpful.length; index++) {
    const node = snapshot.nodes.get(helpful[(start + index) % helpful.length]!);
    const result = node && victimsOn(pod, node, views, options);
    if (typeof result === "object") candidates.push(result);
    else countReason(result ?? "No preemption victims found for incoming pod");
    // Candidates that violate budgets are not enough.
    if (candidates.length >= wanted && candidates.some(({ budgetViolations }) => budgetViolations === 0))
      break;
  }
  if (candidates.length > 0) return { candidate: bestOf(candidates) };
  const list = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  return notPossible(`0/${total} nodes are available: ${list.join(", ")}.`);
}

/** Reports whether the pod terminates because it was preempted; without disruption conditions any reason counts. */
function isPreempted({ metadata, status }: SeenPod, { gates }: Snapshot): boolean {
  if (!metadata.deletionTimestamp) return false;
  if (!gates.enabled("PodDisruptionConditions")) return true;
  const condition = status.conditions?.find(({ type }) => type === "DisruptionTarget");
  return condition?.status === "True" && condition.reason === preemptionReason;
}

/**
 * Returns the minimal set of pods whose removal makes the pod fit on the node, or the reason why none helps.
 */
function victimsOn(
  pod: SeenPod,
  node: NodeInfo,
  views: readonly ObservedView[],
  { nominated, budgets }: PreemptionOptions,
): Candidate | string {
  const lower = [...node.pods.values()].filter((each) => priorityOf(each) < priorityOf(pod));
  if (lower.length === 0) return "No preemption victims found for incoming pod";
  const trial = node.clone();
  for (const each of lower) trial.remove(each.metadata.uid!);
  const fits = (): string | undefined => {
    const simulated = viewsWithNode(views, node, trial);
    const rejection = rejectionOfPod(simulated) ?? filterWithNominated(pod, simulated, trial, nominated);
    return rejection?.reasons[0];
  };
  const problem = fits();
  if (problem !== undefined) return problem;
  const { violating, others } = splitByBudget(lower.toSorted(byImportance), budgets);
  const victims: SeenPod[] = [];
  let budgetViolations = 0;
  // Reprieve the most important pods first, and among those the ones guarded by budgets before all others.
  for (const [each, isGuarded] of [
    ...violating.map((one) => [one, true] as const),
    ...others.map((one) => [one, false] as const),
  ]) {
    trial.add(each);
    if (fits() === undefined) continue;
    trial.remove(each.metadata.uid!);
    victims.push(each);
    if (isGuarded) budgetViolations++;
  }
  return { node: node.name, victims: victims.toSorted(byImportance), budgetViolations };
}

/** Splits off pods whose eviction violates a budget, counting the preceding pods. */
export function splitByBudget(
  pods: readonly SeenPod[],
  budgets: readonly (PodDisruptionBudget & AnyObject)[],
): { readonly violating: readonly SeenPod[]; readonly others: readonly SeenPod[] } {
  const remaining = new Map(budgets.map((budget) => [budget, budget.status.disruptionsAllowed ?? 0]));
  const violating: SeenPod[] = [];
  const others: SeenPod[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const budget of budgets) {
      const { metadata, spec, status } = budget;
      if (
        metadata.namespace !== pod.metadata.namespace ||
        Object.keys(pod.metadata.labels ?? {}).length === 0
      )
        continue;
      if (!spec.selector || !selectsLabels(spec.selector, pod.metadata.labels)) continue;
      if (status.disruptedPods?.[pod.metadata.name!]) continue;
      remaining.set(budget, remaining.get(budget)! - 1);
      if (remaining.get(budget)! < 0) isViolating = true;
    }
    (isViolating ? violating : others).push(pod);
  }
  return { violating, others };
}

/**
 * Returns the candidate with the fewest budget violations, then the lowest highest priority, the smallest sum
 * of priorities, the fewest victims, and the latest start.
 */
export function bestOf(candidates: readonly Candidate[]): Candidate {
  const priorities = ({ victims }: Candidate): number[] => victims.map(priorityOf);
  const criteria: ((candidate: Candidate) => number | string)[] = [
    ({ budgetViolations }) => budgetViolations,
    (candidate) => Math.max(-Infinity, ...priorities(candidate)),
    (candidate) => priorities(candidate).reduce((sum, each) => sum + each + 2 ** 31, 0),
    ({ victims }) => victims.length,
  ];
  let remaining = candidates;
  for (const of of criteria) {
    const lowest = remaining.map(of).reduce((a, b) => (a < b ? a : b));
    remaining = remaining.filter((each) => of(each) === lowest);
    if (remaining.length === 1) return remaining[0]!;
  }
  const earliest = ({ victims }: Candidate): string => {
    const highest = Math.max(...victims.map(priorityOf));
    return (
      victims
        .filter((each) => priorityOf(each) === highest)
        .map(startedAt)
        .toSorted()[0] ?? ""
    );
  };
  return remaining.reduce((a, b) => (earliest(b) > earliest(a) ? b : a));
}
