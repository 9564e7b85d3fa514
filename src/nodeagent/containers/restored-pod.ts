// A pod that only the runtime knows: as much of it as its marks tell, enough to end it well.
import type { Pod } from "#api";
import type { ObservedPod } from "./observed.ts";

export function restoredPod(observed: ObservedPod): Pod {
  const grace = observed.containers
    .map(({ marks }) => marks.graceSeconds)
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
      containers: [...names.values()].map(({ name, image, marks }) => ({
        name,
        image,
        resources: {},
        ...(marks.preStop && { lifecycle: { preStop: marks.preStop } }),
        ...(marks.ports && { ports: marks.ports.map((port) => ({ ...port })) }),
      })),
    },
    status: {},
  };
}
