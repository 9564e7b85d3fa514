// Which pods are on which node, as far as the scheduler knows: those it was told of, and those it has sent
// there itself.
import type { Pod } from "#api";
import type { AnyObject, InformerEvent } from "#client";

export type SeenPod = Pod & AnyObject;

export const isOver = ({ status }: Pod): boolean => status.phase === "Succeeded" || status.phase === "Failed";

export interface PodsByNode {
  see(event: InformerEvent<SeenPod>): void;
  of(node: string): readonly Pod[];
  has(pod: Pod): boolean;
  /** Counts the pod as being there before the server has said so. */
  assume(pod: SeenPod, node: string): void;
  forget(pod: Pod): void;
}

export function podsByNode(): PodsByNode {
  const nodeOf = new Map<string, string>();
  const byNode = new Map<string, Map<string, Pod>>();
  const take = (key: string): void => {
    const node = nodeOf.get(key);
    if (node === undefined) return;
    nodeOf.delete(key);
    const there = byNode.get(node)!;
    there.delete(key);
    if (there.size === 0) byNode.delete(node);
  };
  const put = (key: string, pod: Pod, node: string): void => {
    take(key);
    nodeOf.set(key, node);
    if (!byNode.has(node)) byNode.set(node, new Map());
    byNode.get(node)!.set(key, pod);
  };
  /** By uid: a pod that was assumed and is gone must not stand for its successor. */
  const uidOf = ({ metadata }: Pod): string => metadata.uid ?? "";
  return {
    see: ({ type, object }) => {
      if (type === "deleted" || isOver(object)) take(uidOf(object));
      else if (object.spec.nodeName) put(uidOf(object), object, object.spec.nodeName);
    },
    of: (node) => [...(byNode.get(node)?.values() ?? [])],
    has: (pod) => nodeOf.has(uidOf(pod)),
    assume: (pod, node) => put(uidOf(pod), pod, node),
    forget: (pod) => take(uidOf(pod)),
  };
}
