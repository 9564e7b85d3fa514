// Facts about pods that several controllers decide by.
import type { Pod, PodTemplateSpec } from "#api";
import { millisOfTime } from "#base";
import type { AnyObject, Draft } from "#client";
import { type Seen, controllerReference } from "#controllerkit";
import type { kinds } from "#client";

export type SeenPod = Seen<(typeof kinds)["pods"]["schema"]>;

export const isFinished = ({ status }: Pick<Pod, "status">): boolean =>
  status.phase === "Succeeded" || status.phase === "Failed";
export const isDeleting = ({ metadata }: Pick<AnyObject, "metadata">): boolean =>
  Boolean(metadata.deletionTimestamp);
export const isActive = (pod: Pick<Pod, "status" | "metadata">): boolean =>
  !isFinished(pod) && !pod.metadata.deletionTimestamp;

export const conditionOf = <C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined => conditions?.find((each) => each.type === type);

export const isReady = ({ status }: Pick<Pod, "status">): boolean =>
  conditionOf(status.conditions, "Ready")?.status === "True";

/** Since when the pod is ready, in milliseconds; 0 when that is not known. */
export function readySince({ status }: Pick<Pod, "status">): number {
  const condition = conditionOf(status.conditions, "Ready");
  return condition?.status === "True" ? timeOf(condition.lastTransitionTime) : 0;
}

export const timeOf = (text: string | null | undefined): number => (text ? millisOfTime(text) : 0);
export const createdAt = ({ metadata }: Pick<AnyObject, "metadata">): number =>
  timeOf(metadata.creationTimestamp);

/** Whether the pod has been ready for so long. */
export function isAvailable(pod: Pick<Pod, "status">, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  const since = readySince(pod);
  return minReadySeconds === 0 || (since > 0 && since + minReadySeconds * 1000 <= now);
}

export const restartsOf = ({ status }: Pick<Pod, "status">): number =>
  Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0));

export const keyOf = ({ metadata }: Pick<AnyObject, "metadata">): string =>
  metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name!;

/** `namespace/name`, or just a name. */
export function splitKey(key: string): readonly [namespace: string, name: string] {
  const at = key.indexOf("/");
  return at < 0 ? ["", key] : [key.slice(0, at), key.slice(at + 1)];
}

/** A new pod of a workload, named by the server. */
export function podFromTemplate(
  template: PodTemplateSpec,
  owner: AnyObject,
): Draft<Pod> & { spec: Pod["spec"] } {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      generateName: generateNameFor(owner.metadata.name!),
      namespace: owner.metadata.namespace!,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: structuredClone(template.spec),
  };
}

/** A prefix that is too long for a name is used as it is; the server cuts it. */
export const generateNameFor = (name: string): string => (name.length < 250 ? `${name}-` : name);
