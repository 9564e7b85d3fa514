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
    domains.set(value, (domains.get(value) ?? 0) + matchesOn(constraint, pod, node));
  }
  return domains;
}

/** Counts the pods of a node that the constraint of the pod selects. */
function matchesOn(constraint: Constraint, { metadata: { namespace } }: SeenPod, { pods }: NodeInfo): number {
  let count = 0;
  for (const { metadata } of pods.values())
    if (
      metadata.namespace === namespace &&
      !metadata.deletionTimestamp &&
      constraint.matches(metadata.labels ?? {})
    )
      count++;
  return count;
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
  const found = hard.map((constraint) => spreadOf(constraint, counts(constraint, pod, eligible)));
  return spreadView(pod, found);
}

interface Spread {
  readonly constraint: Constraint;
  /** Number of matching pods by domain. */
  readonly domains: ReadonlyMap<string, number>;
  /** The smallest of these numbers. */
  readonly least: number;
}

function spreadOf(constraint: Constraint, domains: ReadonlyMap<string, number>): Spread {
  let least = Infinity;
  for (const count of domains.values()) least = Math.min(least, count);
  return {
    constraint,
    domains,
    least: domains.size < constraint.minDomains || least === Infinity ? 0 : least,
  };
}

function spreadView(pod: SeenPod, found: readonly Spread[]): PodView {
  const self = (constraint: Constraint): number => (constraint.matches(pod.metadata.labels ?? {}) ? 1 : 0);
  const hasKeys = ({ labels }: NodeInfo): boolean =>
    found.every(({ constraint: { key } }) => labels[key] !== undefined);
  return {
    withNode: (before, after) => {
      if (!hasKeys(after)) return spreadView(pod, found);
      const changed = found.map((spread) => {
        const { constraint, domains } = spread;
        const more = matchesOn(constraint, pod, after) - matchesOn(constraint, pod, before);
        if (more === 0 || !isIncluded(constraint, pod, after)) return spread;
        const value = after.labels[constraint.key]!;
        return spreadOf(constraint, new Map(domains).set(value, (domains.get(value) ?? 0) + more));
      });
      return spreadView(pod, changed);
    },
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
