// How plug-ins take part in placing a pod: each looks at the pod once, then judges and scores nodes for it.
import type { Dialect } from "#dialect";
import type { Gates } from "#options";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import type { VolumeView } from "./volumes/volume-view.ts";

/** Why a node, or every node, is not for the pod. */
export interface NodeRejection {
  /** Empty where several together are the reason; then any event may help. */
  readonly plugin: string;
  readonly reasons: readonly string[];
  /** Whether driving other pods out cannot help. */
  readonly isFinal: boolean;
}

/** The cluster during one attempt; nodes may be simulated ones. */
export interface Snapshot {
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  readonly dialect: Dialect;
  readonly gates: Gates;
  namespaceLabels(namespace: string): Readonly<Record<string, string>>;
  /** Label selectors of services and sets that the pod belongs to, for default spreading. */
  ownerSelectors(pod: SeenPod): readonly ((labels: Readonly<Record<string, string>>) => boolean)[];
  readonly volumes: VolumeView;
}

/** What a plug-in says about one pod. */
export interface PodView {
  /** No node at all is possible. */
  readonly rejectsPod?: NodeRejection;
  /** Only these nodes are possible. */
  readonly onlyNodes?: ReadonlySet<string>;
  filter?(node: NodeInfo): NodeRejection | undefined;
}

/** How a plug-in compares the nodes that are possible for one pod. */
export interface Scorer {
  score(node: NodeInfo): number;
  /** Brings raw scores to 0..100; without it they are so already. */
  normalize?(scores: Map<string, number>): void;
}

export interface Plugin {
  readonly name: string;
  readonly weight?: number;
  /** Kinds of events after which a pod that this plug-in rejected may fit. */
  readonly helpedBy: readonly ClusterEvent[];
  readonly view?: (pod: SeenPod, snapshot: Snapshot) => PodView;
  readonly scorer?: (pod: SeenPod, snapshot: Snapshot, feasible: readonly NodeInfo[]) => Scorer | undefined;
}

export type ClusterEvent =
  | "node added"
  | "node allocatable"
  | "node labels"
  | "node taints"
  | "pod added"
  | "pod deleted"
  | "volume"
  | "claim"
  | "storage class"
  | "csi node";

export const maxScore = 100;

/** Scales to 0..100 by the largest; `reverse` makes the largest the worst. */
export function normalizeByMax(scores: Map<string, number>, reverse: boolean): void {
  const max = Math.max(0, ...scores.values());
  for (const [node, score] of scores) {
    const scaled = max === 0 ? 0 : Math.trunc((maxScore * score) / max);
    scores.set(node, reverse ? maxScore - scaled : scaled);
  }
}
