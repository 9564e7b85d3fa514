// Restores a pod that only the runtime knows from its labels, as far as needed to terminate it gracefully.
import type { Pod } from "#api";
import type { ObservedPod } from "./observed.ts";

export function restoredPod(observed: ObservedPod): Pod {
  const grace = observed.containers
    .map(({ runtimeLabels }) => runtimeLabels.graceSeconds)
    .find((seconds) => seconds !== undefined);
  const names = new Map(observed.containers.toReversed().map((container) => [container.name, container]));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: observed.name,
      namespace: observed.namespace,
      uid: observed.uid,
      creationTimestamp: null,
    },
    spec: {
      ...(observed.sandboxes[0]?.hostNetwork && { hostNetwork: true }),
      ...(grace !== undefined && { terminationGracePeriodSeconds: grace }),
      containers: [...names.values()].map(({ name, image, runtimeLabels }) => ({
        name,
        image,
        resources: {},
        ...(runtimeLabels.preStop && { lifecycle: { preStop: runtimeLabels.preStop } }),
        ...(runtimeLabels.ports && { ports: runtimeLabels.ports.map((port) => ({ ...port })) }),
      })),
    },
    status: {},
  };
}

/**
 * Describes a pod as reported by the runtime only; `containers` is null if none of its containers is left.
 */
export function shownPod({ name, namespace, uid, containers }: ObservedPod): Pod {
  const names = new Map(containers.toReversed().map((container) => [container.name, container]));
  const shown = [...names.values()].map((container) => ({
    name: container.name,
    image: container.image,
    resources: {},
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid, creationTimestamp: null },
    spec: { containers: shown.length > 0 ? shown : null },
    status: {},
  } as unknown as Pod;
}
