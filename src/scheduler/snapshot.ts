// Builds scheduler snapshots: nodes, namespaces, owners of pods, and volumes.
import { kinds } from "#client";
import { type ClusterView, controllerOf, selectsMap } from "#controllerkit";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Snapshot } from "./framework.ts";
import type { SeenPod } from "./node-info.ts";
import { selectsLabels } from "./plugins/inter-pod-affinity.ts";
import type { VolumeView } from "./volumes/volume-view.ts";

type Labels = Readonly<Record<string, string>>;

export function snapshotSource(
  view: ClusterView,
  cache: ClusterCache,
  volumes: VolumeView,
  { dialect, gates }: Pick<Snapshot, "dialect" | "gates">,
): () => Snapshot {
  const namespaces = view.follow(kinds.namespaces);
  const services = view.follow(kinds.services);
  const replicaSets = view.follow(kinds.replicaSets);
  const statefulSets = view.follow(kinds.statefulSets);
  const controllers = view.follow(kinds.replicationControllers);
  const ownerSelectors = (pod: SeenPod): ((labels: Labels) => boolean)[] => {
    const namespace = pod.metadata.namespace ?? "";
    const found: ((labels: Labels) => boolean)[] = [];
    for (const { spec } of services.inNamespace(namespace))
      if (Object.keys(spec.selector ?? {}).length > 0 && selectsMap(spec.selector, pod.metadata.labels))
        found.push((labels) => selectsMap(spec.selector, labels));
    const owner = controllerOf(pod);
    if (owner?.kind === "ReplicaSet" || owner?.kind === "StatefulSet") {
      const set = (owner.kind === "ReplicaSet" ? replicaSets : statefulSets).get(namespace, owner.name);
      if (set?.metadata.uid === owner.uid) found.push((labels) => selectsLabels(set.spec.selector, labels));
    } else if (owner?.kind === "ReplicationController") {
      const set = controllers.get(namespace, owner.name);
      if (set?.metadata.uid === owner.uid) found.push((labels) => selectsMap(set.spec.selector, labels));
    }
    return found;
  };
  return () => ({
    nodes: cache.nodes,
    dialect,
    gates,
    volumes,
    ownerSelectors,
    namespaceLabels: (namespace) => namespaces.get(undefined, namespace)?.metadata.labels ?? {},
  });
}
