// Resource plugins: whether a pod fits, how full a node is, and how balanced its usage is.
import { type Plugin, maxScore } from "../framework.ts";
import type { NodeInfo } from "../node-info.ts";
import { type Amounts, resourcesOf } from "../requests.ts";

export interface WeightedResource {
  readonly name: string;
  readonly weight: number;
}

/**
 * How to score utilization: prefer emptier nodes, fuller nodes, or use a function from utilization to score.
 */
export type ScoringStrategy =
  | { readonly type: "LeastAllocated" | "MostAllocated"; readonly resources: readonly WeightedResource[] }
  | {
      readonly type: "RequestedToCapacityRatio";
      readonly resources: readonly WeightedResource[];
      readonly shape: readonly { readonly utilization: number; readonly score: number }[];
    };

export interface FitSettings {
  readonly strategy: ScoringStrategy;
  /** Extended resources, and resource groups, that are not checked. */
  readonly ignoredResources: readonly string[];
  readonly ignoredResourceGroups: readonly string[];
}

export const defaultResources: readonly WeightedResource[] = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];
const alwaysScored = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Reports whether a resource influences the score: others than the common ones do if the pod requests them. */
const isScored = (name: string, requests: Amounts): boolean =>
  alwaysScored.has(name) || (requests[name] ?? 0) > 0;

export const defaultFit: FitSettings = {
  strategy: { type: "LeastAllocated", resources: defaultResources },
  ignoredResources: [],
  ignoredResourceGroups: [],
};

export function resourcesFit({ strategy, ignoredResources, ignoredResourceGroups }: FitSettings): Plugin {
  const isIgnored = (name: string): boolean =>
    ignoredResources.includes(name) ||
    (name.includes("/") && ignoredResourceGroups.includes(name.slice(0, name.indexOf("/"))));
  return {
    name: "NodeResourcesFit",
    weight: 1,
    requeueEvents: ["node added", "node allocatable", "pod deleted"],
    view: (pod) => {
      const { requests } = resourcesOf(pod);
      const requestedAmounts = Object.entries(requests).filter(
        ([name, amount]) => amount > 0 && !isIgnored(name),
      );
      return {
        filter: ({ pods, allocatable, requested }) => {
          const reasons = pods.size + 1 > (allocatable["pods"] ?? 0) ? ["Too many pods"] : [];
          for (const [name, amount] of requestedAmounts)
            if (amount > (allocatable[name] ?? 0) - (requested[name] ?? 0))
              reasons.push(`Insufficient ${name}`);
          return reasons.length > 0 ? { plugin: "NodeResourcesFit", reasons, isFinal: false } : undefined;
        },
      };
    },
    scorer: (pod) => ({ score: (node) => allocationScore(node, resourcesOf(pod).nonZeroRequests, strategy) }),
  };
}

/** Scores a node from 0 to 100 by the resources that would be allocated on it. */
export function allocationScore(
  { allocatable, nonZeroRequested: used }: Pick<NodeInfo, "allocatable" | "nonZeroRequested">,
  weighed: Amounts,
  strategy: ScoringStrategy,
): number {
  let sum = 0;
  let weights = 0;
  for (const { name, weight } of strategy.resources) {
    const capacity = allocatable[name] ?? 0;
    if (capacity === 0 || !isScored(name, weighed)) continue;
    const score = resourceScore((used[name] ?? 0) + (weighed[name] ?? 0), capacity, strategy);
    if (strategy.type === "RequestedToCapacityRatio" && score === 0) continue;
    sum += score * weight;
    weights += weight;
  }
  if (weights === 0) return 0;
  return strategy.type === "RequestedToCapacityRatio" ? Math.round(sum / weights) : Math.trunc(sum / weights);
}

function resourceScore(total: number, capacity: number, strategy: ScoringStrategy): number {
  if (strategy.type !== "RequestedToCapacityRatio") {
    const taken = Math.min(total, capacity);
    return Math.trunc(
      ((strategy.type === "LeastAllocated" ? capacity - taken : taken) * maxScore) / capacity,
    );
  }
  const use = total > capacity ? 100 : Math.trunc((total * 100) / capacity);
  const points = strategy.shape.map(({ utilization, score }) => [utilization, score * 10] as const);
  const next = points.findIndex(([utilization]) => use <= utilization);
  if (next < 0) return points.at(-1)![1];
  const [x, y] = points[next]!;
  if (next === 0) return y;
  const [before, from] = points[next - 1]!;
  return from + Math.trunc(((y - from) * (use - before)) / (x - before));
}

export function balancedAllocation(resources: readonly WeightedResource[]): Plugin {
  return {
    name: "NodeResourcesBalancedAllocation",
    weight: 1,
    requeueEvents: [],
    scorer: (pod) => {
      const { requests } = resourcesOf(pod);
      return {
        score: ({ allocatable, requested }) => {
          const fractions = resources
            .filter(({ name }) => (allocatable[name] ?? 0) > 0 && isScored(name, requests))
            .map(({ name }) =>
              Math.min(1, ((requested[name] ?? 0) + (requests[name] ?? 0)) / allocatable[name]!),
            );
          return Math.trunc((1 - deviationOf(fractions)) * maxScore);
        },
      };
    },
  };
}

/** Returns half the difference of two values, or the standard deviation of more. */
function deviationOf(fractions: readonly number[]): number {
  if (fractions.length === 2) return Math.abs(fractions[0]! - fractions[1]!) / 2;
  if (fractions.length < 2) return 0;
  const mean = fractions.reduce((sum, each) => sum + each, 0) / fractions.length;
  return Math.sqrt(fractions.reduce((sum, each) => sum + (each - mean) ** 2, 0) / fractions.length);
}
