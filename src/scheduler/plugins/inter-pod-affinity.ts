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

/** Counts by topology key and value, as changes of other counts if these are given. */
class TopologyCounts {
  readonly #base: TopologyCounts | undefined;
  /** Counts by key and value. */
  readonly #own = new Map<string, Map<string, number>>();
  readonly #keys: Set<string>;
  #total: number;

  constructor(base?: TopologyCounts) {
    this.#base = base;
    this.#keys = new Set(base?.keys);
    this.#total = base?.total ?? 0;
  }

  /** The topology keys of all counts. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  get total(): number {
    return this.#total;
  }

  add({ labels }: NodeInfo, key: string, amount: number): void {
    const value = labels[key];
    if (value === undefined) return;
    this.#keys.add(key);
    this.#total += amount;
    const own = this.#own.getOrInsertComputed(key, () => new Map());
    own.set(value, (own.get(value) ?? 0) + amount);
  }

  /** Returns the count in the node's topology domain. */
  at(node: NodeInfo, key: string): number {
    const value = node.labels[key];
    if (value === undefined) return 0;
    return (this.#own.get(key)?.get(value) ?? 0) + (this.#base?.at(node, key) ?? 0);
  }
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

/** The required terms of a pod, and the pods that match them. */
interface Affinities {
  readonly pod: SeenPod;
  readonly snapshot: Snapshot;
  readonly wants: readonly Term[];
  readonly avoids: readonly Term[];
  /** Pods that the pod must be near. */
  readonly wanted: TopologyCounts;
  /** Pods that it must not be near. */
  readonly avoided: TopologyCounts;
  /** Pods that must not be near it. */
  readonly avoidedBy: TopologyCounts;
}

function filterOf(pod: SeenPod, snapshot: Snapshot): PodView {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const found: Affinities = {
    pod,
    snapshot,
    wants: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod, snapshot),
    avoids: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod, snapshot),
    wanted: new TopologyCounts(),
    avoided: new TopologyCounts(),
    avoidedBy: new TopologyCounts(),
  };
  for (const node of snapshot.nodes.values()) countPods(found, node, 1);
  return affinityView(found);
}

/** Adds the pods of a node to the counts, or removes them with the sign -1. */
function countPods(
  { pod, snapshot, wants, avoids, wanted, avoided, avoidedBy }: Affinities,
  node: NodeInfo,
  sign: number,
): void {
  for (const other of node.withAntiAffinity) {
    const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    for (const term of required(terms, other, snapshot))
      if (term.matches(pod)) avoidedBy.add(node, term.topologyKey, sign);
  }
  if (wants.length + avoids.length === 0) return;
  for (const other of node.pods.values()) {
    if (wants.length > 0 && wants.every((term) => term.matches(other)))
      for (const { topologyKey } of wants) wanted.add(node, topologyKey, sign);
    for (const term of avoids) if (term.matches(other)) avoided.add(node, term.topologyKey, sign);
  }
}

function affinityView(found: Affinities): PodView {
  const { pod, wants, avoids, wanted, avoided, avoidedBy } = found;
  const withNode = (before: NodeInfo, after: NodeInfo): PodView => {
    const changed: Affinities = {
      ...found,
      wanted: new TopologyCounts(wanted),
      avoided: new TopologyCounts(avoided),
      avoidedBy: new TopologyCounts(avoidedBy),
    };
    countPods(changed, before, -1);
    countPods(changed, after, 1);
    return affinityView(changed);
  };
  if (wants.length + avoids.length + avoidedBy.total === 0) return { withNode };
  // The first pod of a group with affinity to itself may be placed anywhere.
  const isFirst = wanted.total === 0 && wants.every((term) => term.matches(pod));
  return {
    withNode,
    filter: (node) => {
      const hasKeys = wants.every(({ topologyKey }) => node.labels[topologyKey] !== undefined);
      const isNear = wants.every(({ topologyKey }) => wanted.at(node, topologyKey) > 0);
      if (wants.length > 0 && !(hasKeys && (isNear || isFirst)))
        return { plugin, reasons: ["node(s) didn't match pod affinity rules"], isFinal: true };
      if (avoids.some(({ topologyKey }) => avoided.at(node, topologyKey) > 0))
        return { plugin, reasons: ["node(s) didn't match pod anti-affinity rules"], isFinal: false };
      if ([...avoidedBy.keys].some((key) => avoidedBy.at(node, key) > 0))
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
  const counts = new TopologyCounts();
  for (const node of snapshot.nodes.values()) {
    for (const other of own.length > 0 ? node.pods.values() : node.withAffinity) {
      for (const { term, sign } of own)
        if (term.matches(other)) counts.add(node, term.topologyKey, sign * term.weight);
      const hard = other.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      for (const term of required(hard, other, snapshot))
        if (term.matches(pod)) counts.add(node, term.topologyKey, hardWeight);
      for (const { term, sign } of preferences(other, snapshot))
        if (term.matches(pod)) counts.add(node, term.topologyKey, sign * term.weight);
    }
  }
  if (counts.keys.size === 0 || feasible.length === 0) return undefined;
  const keys = [...counts.keys];
  return {
    score: (node) => keys.reduce((total, key) => total + counts.at(node, key), 0),
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
