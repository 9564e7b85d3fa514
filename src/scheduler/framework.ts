// The plugin framework: each plugin prepares a view of the pod once, then filters and scores nodes with it.
import type { Dialect } from "#dialect";
import type { Gates } from "#options";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import type { VolumeView } from "./volumes/volume-view.ts";

/** Why a node, or every node, is rejected for the pod. */
export interface NodeRejection {
  /** Name of the plugin; empty if several together cause the rejection, so that any event may help. */
  readonly plugin: string;
  readonly reasons: readonly string[];
  /** Whether preemption cannot help. */
  readonly isFinal: boolean;
}

/** The cluster state during one scheduling attempt. */
export interface Snapshot {
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  readonly dialect: Dialect;
  readonly gates: Gates;
  namespaceLabels(namespace: string): Readonly<Record<string, string>>;
  /** Label selectors of the services and controllers that select the pod, for default spreading. */
  ownerSelectors(pod: SeenPod): readonly ((labels: Readonly<Record<string, string>>) => boolean)[];
  readonly volumes: VolumeView;
}

/** The result of a plugin's prefilter for one pod. */
export interface PodView {
  /** Rejects all nodes. */
  readonly rejectsPod?: NodeRejection;
  /** Restricts the candidates to these nodes. */
  readonly onlyNodes?: ReadonlySet<string>;
  filter?(node: NodeInfo): NodeRejection | undefined;
  /**
   * Returns the view if the pods of one node were others. Absent if the view depends on no other pods than those of
   * the node that is filtered.
   */
  withNode?(before: NodeInfo, after: NodeInfo): PodView;
}

/** Scores the feasible nodes for one pod. */
export interface Scorer {
  score(node: NodeInfo): number;
  /** Normalizes raw scores to 0..100; absent if they are in this range already. */
  normalize?(scores: Map<string, number>): void;
}

export interface Plugin {
  readonly name: string;
  readonly weight?: number;
  /** Cluster events after which a pod rejected by this plugin may fit. */
  readonly requeueEvents: readonly ClusterEvent[];
  readonly view?: (pod: SeenPod, snapshot: Snapshot) => PodView;
  readonly scorer?: (pod: SeenPod, snapshot: Snapshot, feasible: readonly NodeInfo[]) => Scorer | undefined;
}

export type ClusterEvent =
  | "node added"
  | "node deleted"
  | "node allocatable"
  | "node labels"
  | "node taints"
  | "pod added"
  | "pod deleted"
  | "volume"
  | "claim"
  | "storage class"
  | "csi node"
  | "csi driver"
  | "storage capacity";

export const maxScore = 100;

/** Scales scores to 0..100 by the maximum; `reverse` inverts them. */
export function normalizeByMax(scores: Map<string, number>, reverse: boolean): void {
  const max = Math.max(0, ...scores.values());
  for (const [node, score] of scores) {
    const scaled = max === 0 ? 0 : Math.trunc((maxScore * score) / max);
    scores.set(node, reverse ? maxScore - scaled : scaled);
  }
}
