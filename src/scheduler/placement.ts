// Finds a node for a pod by filtering and scoring, or returns why no node fits.
import type { Plugin, NodeRejection, Snapshot } from "./framework.ts";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import {
  type CycleMetrics,
  type ObservedView,
  type ViewObserver,
  observedScorer,
  statusOf,
} from "./plugin-metrics.ts";
import { priorityOf } from "./scheduling-queue.ts";

export type Placement =
  | { readonly node: NodeInfo; readonly failures?: undefined }
  | { readonly node: undefined; readonly failures: FilterFailures };

/** Why no node is feasible for a pod. */
export interface FilterFailures {
  readonly total: number;
  /** A rejection that applies to every node. */
  readonly forAll?: NodeRejection;
  readonly byNode: ReadonlyMap<string, NodeRejection>;
}

/** Pods nominated to nodes on which preemption makes room for them, by node. */
export type Nominated = ReadonlyMap<string, readonly SeenPod[]>;

export interface PlacementOptions {
  readonly plugins: readonly Plugin[];
  readonly nominated: Nominated;
  /** Returns a number between 0 and 1, used to break ties. */
  readonly random: () => number;
  /**
   * Index of the first node to check; rotates, so that all nodes are considered when only some are checked.
   */
  readonly start?: number;
  /** Percentage of nodes to find feasible before scoring; 0 chooses it adaptively. */
  readonly percentageOfNodesToScore?: number;
  /** Records extension points and plugins. */
  readonly cycle?: CycleMetrics | undefined;
}

/**
 * Returns how many feasible nodes to find: all of up to 100, otherwise the given percentage or an adaptive
 * one of at least 5 %.
 */
export function nodesToFind(total: number, percentage = 0): number {
  if (total <= 100 || percentage >= 100) return total;
  const share = percentage > 0 ? percentage : Math.max(5, 50 - Math.trunc(total / 125));
  return Math.max(100, Math.trunc((total * share) / 100));
}

interface NamedView extends ObservedView {
  readonly plugin: string;
}

export function viewsOf(
  pod: SeenPod,
  snapshot: Snapshot,
  plugins: readonly Plugin[],
  observe: ViewObserver = (_, prepare) => prepare(),
): readonly NamedView[] {
  return plugins.flatMap(({ name, view }) =>
    view ? [{ plugin: name, ...observe(name, () => view(pod, snapshot)) }] : [],
  );
}

/**
 * Returns a rejection if the node restrictions of plugins have no node in common; it is attributed to no
 * single plugin.
 */
function conflictOf(views: readonly NamedView[]): NodeRejection | undefined {
  let remaining: ReadonlySet<string> | undefined;
  const restricting: string[] = [];
  for (const { plugin, onlyNodes } of views) {
    if (!onlyNodes) continue;
    restricting.push(plugin);
    remaining = remaining?.intersection(onlyNodes) ?? onlyNodes;
    if (remaining.size > 0) continue;
    const [only] = restricting;
    const which =
      restricting.length === 1 ? `plugin ${only}` : `plugin(s) [${restricting.join(" ")}] simultaneously`;
    return { plugin: "", reasons: [`node(s) didn't satisfy ${which}`], isFinal: false };
  }
  return undefined;
}

/** Returns the rejection of the first plugin that rejects the pod on every node. */
export const rejectionOfPod = (views: readonly ObservedView[]): NodeRejection | undefined =>
  views.find(({ rejectsPod }) => rejectsPod)?.rejectsPod;

/** Returns the rejection of the first plugin that rejects the node. */
export function filterNode(views: readonly ObservedView[], node: NodeInfo): NodeRejection | undefined {
  for (const view of views) {
    if (!view.filter) continue;
    if (view.filterCalls) view.filterCalls.value++;
    const rejection = view.filter(node);
    if (rejection) return rejection;
  }
  return undefined;
}

/**
 * Filters a node with and without the nominated pods of equal or higher priority: their resources must not be
 * taken, but the pod must not depend on them either.
 */
export function filterWithNominated(
  pod: SeenPod,
  views: readonly ObservedView[],
  node: NodeInfo,
  nominated: Nominated,
): NodeRejection | undefined {
  const nominatedPods = (nominated.get(node.name) ?? []).filter(
    (each) => each.metadata.uid !== pod.metadata.uid && priorityOf(each) >= priorityOf(pod),
  );
  const rejection = filterNode(views, node);
  if (rejection || nominatedPods.length === 0) return rejection;
  const nodeWithNominated = node.clone();
  for (const each of nominatedPods) nodeWithNominated.add(each);
  const simulatedViews = viewsWithNode(views, node, nodeWithNominated);
  return rejectionOfPod(simulatedViews) ?? filterNode(simulatedViews, nodeWithNominated);
}

/** Returns the views if the pods of one node were others. */
export const viewsWithNode = (
  views: readonly ObservedView[],
  before: NodeInfo,
  after: NodeInfo,
): readonly ObservedView[] => views.map((view) => view.withNode?.(before, after) ?? view);

export function findNode(pod: SeenPod, snapshot: Snapshot, options: PlacementOptions): Placement {
  const { plugins, cycle } = options;
  const total = snapshot.nodes.size;
  const preFiltered = cycle?.start("PreFilter");
  const views = viewsOf(pod, snapshot, plugins, cycle?.view);
  const forAll = rejectionOfPod(views) ?? conflictOf(views);
  preFiltered?.(statusOf(forAll));
  if (forAll) return { node: undefined, failures: { total, forAll, byNode: new Map() } };
  const filtered = cycle?.start("Filter");
  const { feasible, byNode } = filterNodes(pod, snapshot, views, options);
  filtered?.("Success");
  if (feasible.length === 0) return { node: undefined, failures: { total, byNode } };
  return { node: feasible.length === 1 ? feasible[0]! : bestNode(pod, snapshot, feasible, options) };
}

/** Returns the feasible nodes, as many as are to be scored, and why others were rejected. */
function filterNodes(
  pod: SeenPod,
  snapshot: Snapshot,
  views: readonly NamedView[],
  options: PlacementOptions,
): { readonly feasible: readonly NodeInfo[]; readonly byNode: ReadonlyMap<string, NodeRejection> } {
  const byNode = new Map<string, NodeRejection>();
  const only = views.flatMap(({ onlyNodes }) => (onlyNodes ? [onlyNodes] : []));
  const all = [...snapshot.nodes.values()].filter(({ name }) => only.every((names) => names.has(name)));
  // The node on which preemption made room most likely fits.
  const nominatedNode = pod.status.nominatedNodeName
    ? all.find(({ name }) => name === pod.status.nominatedNodeName)
    : undefined;
  if (nominatedNode && !filterWithNominated(pod, views, nominatedNode, options.nominated))
    return { feasible: [nominatedNode], byNode };
  const feasible: NodeInfo[] = [];
  const wanted = nodesToFind(all.length, options.percentageOfNodesToScore);
  for (let index = 0; index < all.length && feasible.length < wanted; index++) {
    const node = all[(index + (options.start ?? 0)) % all.length]!;
    const rejection = filterWithNominated(pod, views, node, options.nominated);
    if (rejection) byNode.set(node.name, rejection);
    else feasible.push(node);
  }
  return { feasible, byNode };
}

function bestNode(
  pod: SeenPod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  { plugins, random, cycle }: PlacementOptions,
): NodeInfo {
  const preScored = cycle?.start("PreScore");
  const scorers = plugins.flatMap(({ name, scorer, weight = 1 }) => {
    const found = scorer && observedScorer(cycle, name, () => scorer(pod, snapshot, feasible));
    return found ? [{ found, weight }] : [];
  });
  preScored?.("Success");
  const scored = cycle?.start("Score");
  const totals = new Map(feasible.map(({ name }) => [name, 0]));
  for (const { found, weight } of scorers) {
    const scores = new Map(feasible.map((node) => [node.name, found.score(node)]));
    found.normalize?.(scores);
    for (const [name, score] of scores) totals.set(name, totals.get(name)! + score * weight);
  }
  scored?.("Success");
  const highest = Math.max(...totals.values());
  const ties = feasible.filter(({ name }) => totals.get(name) === highest);
  return ties[Math.min(ties.length - 1, Math.floor(random() * ties.length))]!;
}

/** Formats e.g. `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function failureText({ total, forAll, byNode }: FilterFailures, preemption?: string): string {
  const after = preemption ? ` ${preemption}.` : "";
  if (forAll) return `0/${total} nodes are available: ${forAll.reasons.join(", ")}.${after}`;
  const counts = new Map<string, number>();
  for (const { reasons } of byNode.values())
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const list = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted();
  const reasons = list.length > 0 ? ` ${list.join(", ")}.` : "";
  return `0/${total} nodes are available:${reasons}${after}`;
}
