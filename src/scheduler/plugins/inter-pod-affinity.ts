// Inter-pod affinity and anti-affinity, counted per value of the topology keys.
import type { PodAffinityTerm } from "#api";
import { type LabelSelectorLike, type Selector, fromLabelSelector } from "#base";
import { type Plugin, type PodView, type Scorer, type Snapshot, maxScore } from "../framework.ts";
import type { NodeInfo, SeenPod } from "../node-info.ts";

interface Term {
  readonly topologyKey: string;
  readonly weight: number;
  matches(pod: SeenPod): boolean;
}

const selectors = new WeakMap<object, Selector>();
/** Returns the parsed selector, cached per object. */
export function selectorOf(selector: LabelSelectorLike): Selector {
  let parsed = selectors.get(selector);
  if (!parsed) selectors.set(selector, (parsed = fromLabelSelector(selector)));
  return parsed;
}
export const selectsLabels = (
  selector: LabelSelectorLike | null | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean => (selector ? selectorOf(selector).matches({ labels: labels ?? {}, fields: {} }) : false);

function termOf(term: PodAffinityTerm, owner: SeenPod, { namespaceLabels }: Snapshot, weight = 1): Term {
  const { labelSelector, namespaces, namespaceSelector, topologyKey } = term;
  const namespaceNames = new Set(
    namespaces?.length || namespaceSelector ? (namespaces ?? []) : [owner.metadata.namespace ?? ""],
  );
  return {
    topologyKey,
    weight,
    matches: ({ metadata }) => {
      const namespace = metadata.namespace ?? "";
      const isInNamespace =
        namespaceNames.has(namespace) ||
        (namespaceSelector ? selectsLabels(namespaceSelector, namespaceLabels(namespace)) : false);
      return isInNamespace && selectsLabels(labelSelector, metadata.labels);
    },
  };
}

const required = (
  terms: readonly PodAffinityTerm[] | undefined,
  owner: SeenPod,
  snapshot: Snapshot,
): Term[] => (terms ?? []).map((term) => termOf(term, owner, snapshot));

/** Counts by `key=value`. */
type Counts = Map<string, number>;
const countKey = ({ labels }: NodeInfo, key: string): string | undefined =>
  labels[key] === undefined ? undefined : `${key}=${labels[key]}`;
function count(counts: Counts, node: NodeInfo, key: string, amount: number): void {
  const at = countKey(node, key);
  if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + amount);
}

const plugin = "InterPodAffinity";

/** Default weight with which required affinity of existing pods counts as a preference. */
export const defaultHardWeight = 1;

export const interPodAffinity = (hardWeight: number, ignoresOthers: boolean): Plugin => ({
  name: plugin,
  weight: 2,
  requeueEvents: ["node added", "node labels", "pod added", "pod deleted"],
  view: filterOf,
  scorer: (pod, snapshot, feasible) =>
    ignoresOthers && preferences(pod, snapshot).length === 0
      ? undefined
      : scoreOf(pod, snapshot, feasible, hardWeight),
});

function filterOf(pod: SeenPod, snapshot: Snapshot): PodView {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const wants = required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod, snapshot);
  const avoids = required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod, snapshot);
  const avoidedBy: Counts = new Map();
  const wanted: Counts = new Map();
  const avoided: Counts = new Map();
  for (const node of snapshot.nodes.values()) {
    for (const other of node.withAntiAffinity) {
      const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      for (const term of required(terms, other, snapshot))
        if (term.matches(pod)) count(avoidedBy, node, term.topologyKey, 1);
    }
    if (wants.length + avoids.length === 0) continue;
    for (const other of node.pods.values()) {
      if (wants.length > 0 && wants.every((term) => term.matches(other)))
        for (const { topologyKey } of wants) count(wanted, node, topologyKey, 1);
      for (const term of avoids) if (term.matches(other)) count(avoided, node, term.topologyKey, 1);
    }
  }
  if (wants.length + avoids.length + avoidedBy.size === 0) return {};
  // The first pod of a group with affinity to itself may be placed anywhere.
  const isFirst = wanted.size === 0 && wants.every((term) => term.matches(pod));
  return {
    filter: (node) => {
      const has = (counts: Counts, key: string): boolean => (counts.get(countKey(node, key) ?? "") ?? 0) > 0;
      const hasKeys = wants.every(({ topologyKey }) => countKey(node, topologyKey) !== undefined);
      const isNear = wants.every(({ topologyKey }) => has(wanted, topologyKey));
      if (wants.length > 0 && !(hasKeys && (isNear || isFirst)))
        return { plugin, reasons: ["node(s) didn't match pod affinity rules"], isFinal: true };
      if (avoids.some(({ topologyKey }) => has(avoided, topologyKey)))
        return { plugin, reasons: ["node(s) didn't match pod anti-affinity rules"], isFinal: false };
      if ([...avoidedBy.keys()].some((key) => key === countKey(node, key.slice(0, key.indexOf("=")))))
        return {
          plugin,
          reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
          isFinal: false,
        };
      return undefined;
    },
  };
}

function scoreOf(
  pod: SeenPod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  hardWeight: number,
): Scorer | undefined {
  const own = preferences(pod, snapshot);
  const counts: Counts = new Map();
  for (const node of snapshot.nodes.values()) {
    for (const other of own.length > 0 ? node.pods.values() : node.withAffinity) {
      for (const { term, sign } of own)
        if (term.matches(other)) count(counts, node, term.topologyKey, sign * term.weight);
      const hard = other.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      for (const term of required(hard, other, snapshot))
        if (term.matches(pod)) count(counts, node, term.topologyKey, hardWeight);
      for (const { term, sign } of preferences(other, snapshot))
        if (term.matches(pod)) count(counts, node, term.topologyKey, sign * term.weight);
    }
  }
  if (counts.size === 0 || feasible.length === 0) return undefined;
  return {
    score: (node) =>
      [...counts].reduce(
        (total, [key, amount]) =>
          key === countKey(node, key.slice(0, key.indexOf("="))) ? total + amount : total,
        0,
      ),
    normalize: (scores) => {
      const [min, max] = [Math.min(...scores.values()), Math.max(...scores.values())];
      for (const [node, score] of scores)
        scores.set(node, max > min ? Math.trunc((maxScore * (score - min)) / (max - min)) : 0);
    },
  };
}

function preferences(pod: SeenPod, snapshot: Snapshot): { readonly term: Term; readonly sign: number }[] {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const of = (terms: typeof podAffinity, sign: number) =>
    (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) => ({
      term: termOf(podAffinityTerm, pod, snapshot, weight),
      sign,
    }));
  return [...of(podAffinity, 1), ...of(podAntiAffinity, -1)];
}
