// Topology spread constraints: limit how unevenly matching pods are distributed over zones, hosts or other
// domains.
import { type TopologySpreadConstraint, tolerates, podMatchesNode } from "#api";
import { type Plugin, type PodView, type Scorer, type Snapshot, maxScore } from "../framework.ts";
import type { NodeInfo, SeenPod } from "../node-info.ts";
import { selectsLabels } from "./inter-pod-affinity.ts";

interface Constraint {
  readonly key: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
  matches(labels: Readonly<Record<string, string>>): boolean;
}

const plugin = "PodTopologySpread";

function constraintOf(given: TopologySpreadConstraint, pod: SeenPod, { gates }: Snapshot): Constraint {
  const { labelSelector } = given;
  const podLabels = pod.metadata.labels ?? {};
  const labelKeys = gates.enabled("MatchLabelKeysInPodTopologySpread") ? given.matchLabelKeys : undefined;
  const keys = (labelKeys ?? []).filter((key) => podLabels[key] !== undefined);
  const policies = gates.enabled("NodeInclusionPolicyInPodTopologySpread") ? given : undefined;
  const minDomains = gates.enabled("MinDomainsInPodTopologySpread") ? given.minDomains : undefined;
  return {
    key: given.topologyKey,
    maxSkew: given.maxSkew,
    minDomains: minDomains ?? 1,
    honorsAffinity: (policies?.nodeAffinityPolicy ?? "Honor") === "Honor",
    honorsTaints: (policies?.nodeTaintsPolicy ?? "Ignore") === "Honor",
    matches: (labels) =>
      selectsLabels(labelSelector, labels) && keys.every((key) => labels[key] === podLabels[key]),
  };
}

function counts(constraint: Constraint, pod: SeenPod, nodes: Iterable<NodeInfo>): Map<string, number> {
  const domains = new Map<string, number>();
  for (const node of nodes) {
    const value = node.labels[constraint.key];
    if (value === undefined || !isIncluded(constraint, pod, node)) continue;
    let count = domains.get(value) ?? 0;
    for (const other of node.pods.values())
      if (
        other.metadata.namespace === pod.metadata.namespace &&
        !other.metadata.deletionTimestamp &&
        constraint.matches(other.metadata.labels ?? {})
      )
        count++;
    domains.set(value, count);
  }
  return domains;
}

function isIncluded(
  { honorsAffinity, honorsTaints }: Constraint,
  pod: SeenPod,
  { name, labels, node }: NodeInfo,
): boolean {
  if (honorsAffinity && !podMatchesNode(pod.spec, { name, labels })) return false;
  return (
    !honorsTaints ||
    (node.spec.taints ?? []).every(
      (taint) =>
        (taint.effect !== "NoSchedule" && taint.effect !== "NoExecute") ||
        (pod.spec.tolerations ?? []).some((each) => tolerates(each, taint)),
    )
  );
}

/** Default constraints of pods without any: soft ones by host and zone, or a given list. */
export type SpreadDefaults = "System" | readonly TopologySpreadConstraint[];

export const topologySpread = (defaults: SpreadDefaults): Plugin => ({
  name: plugin,
  weight: 2,
  requeueEvents: ["node added", "node deleted", "node labels", "pod added", "pod deleted"],
  view: (pod, snapshot) => filterOf(pod, snapshot, defaults),
  scorer: (pod, snapshot, feasible) => scoreOf(pod, snapshot, feasible, defaults),
});

/** Returns the constraints of the pod, or the defaults for pods of services and controllers without any. */
function constraintsOf(
  pod: SeenPod,
  snapshot: Snapshot,
  defaults: SpreadDefaults,
  wanted: "DoNotSchedule" | "ScheduleAnyway",
): Constraint[] {
  const own = pod.spec.topologySpreadConstraints ?? [];
  const isWanted = ({ whenUnsatisfiable }: TopologySpreadConstraint): boolean => whenUnsatisfiable === wanted;
  if (own.length > 0 || defaults === "System")
    return own.filter(isWanted).map((each) => constraintOf(each, pod, snapshot));
  const listed = defaults.filter(isWanted);
  const matches = listed.length > 0 ? ownersMatch(pod, snapshot) : undefined;
  return matches ? listed.map((each) => ({ ...constraintOf(each, pod, snapshot), matches })) : [];
}

/**
 * Returns a predicate for labels selected by the same services and controllers as the pod; undefined if no
 * service or controller selects it.
 */
function ownersMatch(pod: SeenPod, snapshot: Snapshot): Constraint["matches"] | undefined {
  const selectors = snapshot.ownerSelectors(pod);
  return selectors.length === 0 ? undefined : (labels) => selectors.every((each) => each(labels));
}

function filterOf(pod: SeenPod, snapshot: Snapshot, defaults: SpreadDefaults): PodView {
  const { nodes } = snapshot;
  const hard = constraintsOf(pod, snapshot, defaults, "DoNotSchedule");
  if (hard.length === 0) return {};
  // Only nodes with all topology keys are considered.
  const eligible = [...nodes.values()].filter(({ labels }) =>
    hard.every(({ key }) => labels[key] !== undefined),
  );
  const found = hard.map((constraint) => {
    const domains = counts(constraint, pod, eligible);
    const minimum = domains.size < constraint.minDomains ? 0 : Math.min(...domains.values());
    return { constraint, domains, least: Number.isFinite(minimum) ? minimum : 0 };
  });
  const self = (constraint: Constraint): number => (constraint.matches(pod.metadata.labels ?? {}) ? 1 : 0);
  return {
    filter: ({ labels }) => {
      for (const { constraint, domains, least } of found) {
        const value = labels[constraint.key];
        if (value === undefined)
          return {
            plugin,
            reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
            isFinal: true,
          };
        if ((domains.get(value) ?? 0) + self(constraint) - least > constraint.maxSkew)
          return {
            plugin,
            reasons: ["node(s) didn't match pod topology spread constraints"],
            isFinal: false,
          };
      }
      return undefined;
    },
  };
}

function scoreOf(
  pod: SeenPod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  defaults: SpreadDefaults,
): Scorer | undefined {
  const { dialect } = snapshot;
  let soft = constraintsOf(pod, snapshot, defaults, "ScheduleAnyway");
  const isDefault = defaults === "System" && !pod.spec.topologySpreadConstraints?.length;
  if (isDefault) {
    // Pods of services and controllers are spread softly by default.
    const matches = ownersMatch(pod, snapshot);
    if (!matches) return undefined;
    const base = { minDomains: 1, honorsAffinity: true, honorsTaints: false, matches };
    soft = [
      { ...base, key: dialect.names.labels.hostname, maxSkew: 3 },
      { ...base, key: dialect.names.labels.zone, maxSkew: 5 },
    ];
  }
  if (soft.length === 0 || feasible.length === 0) return undefined;
  const hasKeys = ({ labels }: NodeInfo): boolean =>
    isDefault || soft.every(({ key }) => labels[key] !== undefined);
  const ignored = new Set(feasible.filter((node) => !hasKeys(node)).map(({ name }) => name));
  const hostKey = dialect.names.labels.hostname;
  const eligible = [...snapshot.nodes.values()].filter(hasKeys);
  const scored = feasible.filter(({ name }) => !ignored.has(name));
  const found = soft.map((constraint) => {
    const size =
      constraint.key === hostKey
        ? scored.length
        : new Set(scored.flatMap(({ labels }) => labels[constraint.key] ?? [])).size;
    return { constraint, domains: counts(constraint, pod, eligible), weight: Math.log(size + 2) };
  });
  return {
    score: ({ name, labels }) =>
      ignored.has(name)
        ? 0
        : Math.round(
            found.reduce((total, { constraint, domains, weight }) => {
              const value = labels[constraint.key];
              return value === undefined
                ? total
                : total + (domains.get(value) ?? 0) * weight + (constraint.maxSkew - 1);
            }, 0),
          ),
    normalize: (scores) => {
      const counted = [...scores].filter(([name]) => !ignored.has(name)).map(([, score]) => score);
      const [min, max] = [Math.min(...counted), Math.max(...counted)];
      for (const [name, score] of scores)
        scores.set(
          name,
          ignored.has(name) ? 0 : max === 0 ? maxScore : Math.trunc((maxScore * (max + min - score)) / max),
        );
    },
  };
}
