// Scheduler cache: nodes and the pods assigned to them, both observed and assumed.
import { NodeInfo, type SeenNode, type SeenPod } from "./node-info.ts";

export const isFinished = ({ status }: SeenPod): boolean =>
  status.phase === "Succeeded" || status.phase === "Failed";

export class ClusterCache {
  readonly nodes = new Map<string, NodeInfo>();
  /** Assigned pods by uid, with their node; includes nodes that have not been observed yet. */
  readonly #placed = new Map<string, { readonly pod: SeenPod; readonly node: string }>();
  readonly #assumed = new Set<string>();

  /** Numbers of assigned pods, and of those that are only assumed. */
  get sizes(): { readonly pods: number; readonly assumed: number } {
    return { pods: this.#placed.size, assumed: this.#assumed.size };
  }

  setNode(node: SeenNode): void {
    const name = node.metadata.name!;
    const before = this.nodes.get(name);
    const pods =
      before?.pods.values() ??
      [...this.#placed.values()].filter((each) => each.node === name).map(({ pod }) => pod);
    this.nodes.set(name, new NodeInfo(node, pods));
  }

  removeNode(name: string): void {
    this.nodes.delete(name);
  }

  setPod(pod: SeenPod): void {
    const uid = pod.metadata.uid!;
    if (isFinished(pod)) return this.removePod(uid);
    if (!pod.spec.nodeName) return;
    this.#assumed.delete(uid);
    this.#place(pod, pod.spec.nodeName);
  }

  removePod(uid: string): void {
    const before = this.#placed.get(uid);
    this.#assumed.delete(uid);
    if (!before) return;
    this.#placed.delete(uid);
    this.nodes.get(before.node)?.remove(uid);
  }

  /** Counts a pod as assigned before its binding has been observed. */
  assume(pod: SeenPod, node: string): void {
    this.#assumed.add(pod.metadata.uid!);
    this.#place({ ...pod, spec: { ...pod.spec, nodeName: node } }, node);
  }

  /** Reverts an assumption; has no effect once the assignment was observed. */
  forget(uid: string): void {
    if (this.#assumed.has(uid)) this.removePod(uid);
  }

  has(uid: string): boolean {
    return this.#placed.has(uid);
  }

  #place(pod: SeenPod, node: string): void {
    const uid = pod.metadata.uid!;
    const before = this.#placed.get(uid);
    if (before && before.node !== node) this.nodes.get(before.node)?.remove(uid);
    this.#placed.set(uid, { pod, node });
    this.nodes.get(node)?.add(pod);
  }
}
