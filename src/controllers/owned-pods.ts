// Pods of workloads: maps pod events to owners, and lists the candidate pods of an owner.
import { isDeepStrictEqual } from "node:util";
import { type AnyObject, type InformerEvent, kinds } from "#client";
import { type ClusterView, type SharedInformer, type WorkQueue, controllerOf } from "#controllerkit";
import { type SeenPod, isDeleting, isReady, keyOf } from "./pods.ts";

export interface PodRoutes<O extends AnyObject> {
  readonly ownerKind: string;
  readonly owners: Pick<SharedInformer<O>, "get" | "inNamespace">;
  readonly matches: (owner: O, pod: SeenPod) => boolean;
  readonly onOwner: (owner: O, event: InformerEvent<SeenPod>) => void;
  readonly onCreated?: (owner: O, pod: SeenPod) => void;
  /** Also called when the pod's deletion has only begun. */
  readonly onDeleted?: (owner: O, pod: SeenPod) => void;
}

export interface OwnedPods {
  readonly informer: SharedInformer<SeenPod>;
  /** Returns the pods the owner controls, and the pods of its namespace without a controller. */
  candidates(owner: AnyObject): readonly SeenPod[];
}

interface Workload extends AnyObject {
  readonly spec: { readonly minReadySeconds?: number | undefined };
}

/** Queues the owner, and again when a pod that became ready counts as available after minReadySeconds. */
export function queueOwner(
  queue: Pick<WorkQueue, "add" | "addAfter">,
  owner: Workload,
  event: InformerEvent<SeenPod>,
): void {
  queue.add(keyOf(owner));
  const seconds = owner.spec.minReadySeconds ?? 0;
  if (event.type === "updated" && seconds > 0 && isReady(event.object) && !isReady(event.old))
    queue.addAfter(keyOf(owner), (seconds + 1) * 1000);
}

/**
 * Follows pods and calls the owners' handlers. `routes` is evaluated lazily, since owners may be followed
 * later.
 */
export function ownedPods<O extends AnyObject>(view: ClusterView, routes: () => PodRoutes<O>): OwnedPods {
  const resolve = (pod: SeenPod): O | undefined => {
    const reference = controllerOf(pod);
    const { ownerKind, owners } = routes();
    if (reference?.kind !== ownerKind) return undefined;
    const owner = owners.get(pod.metadata.namespace, reference.name);
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  };
  const onOrphan = (event: InformerEvent<SeenPod>): void => {
    const { owners, matches, onOwner } = routes();
    for (const owner of owners.inNamespace(event.object.metadata.namespace ?? ""))
      if (matches(owner, event.object)) onOwner(owner, event);
  };
  const informer: SharedInformer<SeenPod> = view.follow(kinds.pods, (event) => {
    const { object: pod } = event;
    const { onOwner, onCreated, onDeleted } = routes();
    const owner = resolve(pod);
    if (event.type === "updated") {
      const before = resolve(event.old);
      if (before && before.metadata.uid !== owner?.metadata.uid) onOwner(before, event);
    }
    if (owner) {
      if (event.type === "deleted" || isDeleting(pod)) onDeleted?.(owner, pod);
      else if (event.type === "added") onCreated?.(owner, pod);
      onOwner(owner, event);
    } else if (event.type !== "deleted" && !controllerOf(pod) && !isDeleting(pod)) {
      if (
        event.type === "added" ||
        controllerOf(event.old) ||
        !isDeepStrictEqual(event.old.metadata.labels, pod.metadata.labels)
      )
        onOrphan(event);
    }
  });
  const orphans = informer.index("orphans", (pod) =>
    controllerOf(pod) ? [] : [pod.metadata.namespace ?? ""],
  );
  return {
    informer,
    candidates: ({ metadata }) => [
      ...informer.controlledBy(metadata.uid!),
      ...orphans(metadata.namespace ?? ""),
    ],
  };
}
