// Plug-ins for resources: whether a pod fits, where most is left, and where the mix stays even.
import { type Plugin, maxScore } from "../framework.ts";
import type { NodeInfo } from "../node-info.ts";
import { type Amounts, useOf } from "../requests.ts";

export const resourcesFit: Plugin = {
  name: "NodeResourcesFit",
  weight: 1,
  helpedBy: ["node added", "node allocatable", "pod deleted"],
  view: (pod) => {
    const { requests } = useOf(pod);
    const asked = Object.entries(requests).filter(([, amount]) => amount > 0);
    return {
      filter: ({ pods, allocatable, requested }) => {
        const reasons = pods.size + 1 > (allocatable["pods"] ?? 0) ? ["Too many pods"] : [];
        for (const [name, amount] of asked)
          if (amount > (allocatable[name] ?? 0) - (requested[name] ?? 0))
            reasons.push(`Insufficient ${name}`);
        return reasons.length > 0 ? { plugin: "NodeResourcesFit", reasons, isFinal: false } : undefined;
      },
    };
  },
  scorer: (pod) => ({ score: (node) => leastAllocated(node, useOf(pod).weighed) }),
};

const compared = ["cpu", "memory"] as const;

/** The share of cpu and memory that would be left, from 0 to 100. */
export function leastAllocated({ allocatable, weighed: used }: NodeInfo, weighed: Amounts): number {
  let sum = 0;
  let weights = 0;
  for (const name of compared) {
    const capacity = allocatable[name] ?? 0;
    if (capacity === 0) continue;
    const total = (used[name] ?? 0) + (weighed[name] ?? 0);
    sum += total > capacity ? 0 : Math.trunc(((capacity - total) * maxScore) / capacity);
    weights++;
  }
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

export const balancedAllocation: Plugin = {
  name: "NodeResourcesBalancedAllocation",
  weight: 1,
  helpedBy: [],
  scorer: (pod) => {
    const { requests } = useOf(pod);
    return {
      score: ({ allocatable, requested }) => {
        const fractions = compared
          .filter((name) => (allocatable[name] ?? 0) > 0)
          .map((name) => Math.min(1, ((requested[name] ?? 0) + (requests[name] ?? 0)) / allocatable[name]!));
        const deviation = fractions.length === 2 ? Math.abs(fractions[0]! - fractions[1]!) / 2 : 0;
        return Math.trunc((1 - deviation) * maxScore);
      },
    };
  },
};
