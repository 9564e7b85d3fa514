// Small helpers about pods, used by all parts of the agent.
import type { Container, EphemeralContainer, ObjectReference, Pod } from "#api";
import type { Dialect } from "#dialect";

export const uidOf = (pod: Pod): string => pod.metadata.uid ?? "";
export const nameOf = (pod: Pod): string => pod.metadata.name ?? "";
export const namespaceOf = (pod: Pod): string => pod.metadata.namespace ?? "";
/** `namespace/name`, for logs and maps. */
export const keyOf = (pod: Pod): string => `${namespaceOf(pod)}/${nameOf(pod)}`;
/** `name_namespace(uid)`, the form used in messages to users. */
export const longNameOf = (pod: Pod): string => `${nameOf(pod)}_${namespaceOf(pod)}(${uidOf(pod)})`;

export const containersOf = (pod: Pod): readonly Container[] => pod.spec.containers ?? [];
export const initContainersOf = (pod: Pod): readonly Container[] => pod.spec.initContainers ?? [];
export const ephemeralContainersOf = (pod: Pod): readonly EphemeralContainer[] =>
  pod.spec.ephemeralContainers ?? [];
/** Returns init containers, containers and ephemeral containers, in this order. */
export const everyContainerOf = (pod: Pod): readonly Container[] => [
  ...initContainersOf(pod),
  ...containersOf(pod),
  ...ephemeralContainersOf(pod),
];

export const isHostNetwork = (pod: Pod): boolean => pod.spec.hostNetwork === true;
export const isDeleted = (pod: Pod): boolean => Boolean(pod.metadata.deletionTimestamp);
export const isFinished = (pod: Pod): boolean =>
  pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** Reports whether the pod comes from a file or a URL instead of the API server. */
export function isStatic(pod: Pod, { names }: Dialect): boolean {
  const source = pod.metadata.annotations?.[names.annotations.configSource];
  return source !== undefined && source !== "api";
}
/** Reports whether the pod is a mirror pod: the API object of a static pod. */
export const isMirror = (pod: Pod, { names }: Dialect): boolean =>
  pod.metadata.annotations?.[names.annotations.configMirror] !== undefined;

/** Pods with at least this priority are system-critical. */
const systemPriority = 2_000_000_000;
/** Reports whether the pod is critical: other pods may be preempted for it. */
export const isCritical = (pod: Pod, dialect: Dialect): boolean =>
  isStatic(pod, dialect) || isMirror(pod, dialect) || Number(pod.spec.priority ?? 0) >= systemPriority;

/** Returns the object reference for events about the pod or one of its containers. */
export function referenceTo(pod: Pod, container?: string): ObjectReference {
  const field = container === undefined ? undefined : fieldPathOf(pod, container);
  return {
    kind: "Pod",
    apiVersion: "v1",
    namespace: namespaceOf(pod),
    name: nameOf(pod),
    uid: uidOf(pod),
    ...(pod.metadata.resourceVersion && { resourceVersion: pod.metadata.resourceVersion }),
    ...(field && { fieldPath: field }),
  };
}

function fieldPathOf(pod: Pod, container: string): string | undefined {
  if (containersOf(pod).some(({ name }) => name === container)) return `spec.containers{${container}}`;
  if (initContainersOf(pod).some(({ name }) => name === container))
    return `spec.initContainers{${container}}`;
  if (ephemeralContainersOf(pod).some(({ name }) => name === container))
    return `spec.ephemeralContainers{${container}}`;
  return undefined;
}
