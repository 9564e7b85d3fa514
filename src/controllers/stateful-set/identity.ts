// Sticky identity of a stateful set's pods: names, labels, host names and claims by ordinal.
import type { PersistentVolumeClaim, Pod, StatefulSet, PodTemplateSpec } from "#api";
import type { AnyObject, Draft } from "#client";
import type { Dialect } from "#dialect";
import { type SeenPod, podFromTemplate } from "../pods.ts";

export type SeenStatefulSet = StatefulSet & AnyObject;
export type Ordinal = number;

export const revisionLabel = "controller-revision-hash";
export const revisionOf = ({ metadata }: Pick<AnyObject, "metadata">): string =>
  metadata.labels?.[revisionLabel] ?? "";
export const startOf = ({ spec }: SeenStatefulSet): Ordinal => spec.ordinals?.start ?? 0;
export const sizeOf = ({ spec }: SeenStatefulSet): number => spec.replicas ?? 1;

/** Parses a pod's name into the parent's name and the ordinal; -1 if it has none. */
export function parentAndOrdinal(podName: string): readonly [parent: string, ordinal: Ordinal] {
  const found = /^(.*)-(\d+)$/.exec(podName);
  return found && Number(found[2]) < 2 ** 31 ? [found[1]!, Number(found[2])] : ["", -1];
}
export const ordinalOf = ({ metadata }: Pick<AnyObject, "metadata">): Ordinal =>
  parentAndOrdinal(metadata.name ?? "")[1];
export const isInRange = (set: SeenStatefulSet, ordinal: Ordinal): boolean =>
  ordinal >= startOf(set) && ordinal < startOf(set) + sizeOf(set);

export const claimName = (
  set: SeenStatefulSet,
  template: Pick<PersistentVolumeClaim, "metadata">,
  ordinal: Ordinal,
): string => `${template.metadata.name}-${set.metadata.name}-${ordinal}`;

/** Returns the claims of one pod, by the volume that uses them. */
export function claimsOf(set: SeenStatefulSet, ordinal: Ordinal): Map<string, Draft<PersistentVolumeClaim>> {
  return new Map(
    (set.spec.volumeClaimTemplates ?? []).map((template) => {
      const { labels, annotations } = template.metadata;
      return [
        template.metadata.name!,
        {
          metadata: {
            name: claimName(set, template, ordinal),
            namespace: set.metadata.namespace!,
            labels: { ...labels, ...set.spec.selector?.matchLabels },
            ...(annotations && { annotations }),
          },
          spec: template.spec,
        },
      ];
    }),
  );
}

/** Returns the volumes of a pod, preceded by those of its claims. */
export function withClaims(
  set: SeenStatefulSet,
  ordinal: Ordinal,
  volumes: Pod["spec"]["volumes"],
): NonNullable<Pod["spec"]["volumes"]> {
  const claims = claimsOf(set, ordinal);
  return [
    ...[...claims].map(([name, claim]) => ({
      name,
      persistentVolumeClaim: { claimName: claim.metadata.name! },
    })),
    ...(volumes ?? []).filter(({ name }) => !claims.has(name)),
  ] as NonNullable<Pod["spec"]["volumes"]>;
}

export interface PodIdentity {
  readonly revision: string;
  readonly ordinal: Ordinal;
  /** Further labels by which the pod can be selected. */
  readonly labels?: Readonly<Record<string, string>>;
}

export function newPod(
  set: SeenStatefulSet,
  template: PodTemplateSpec,
  { revision, ordinal, labels }: PodIdentity,
  { names }: Dialect,
): Draft<Pod> & { spec: Pod["spec"] } {
  const pod = podFromTemplate(template, set);
  const name = `${set.metadata.name}-${ordinal}`;
  const { metadata } = pod;
  const volumes = withClaims(set, ordinal, pod.spec.volumes);
  return {
    metadata: {
      ...metadata,
      name,
      labels: {
        ...metadata.labels,
        ...labels,
        [names.labels.statefulSetPodName]: name,
        [revisionLabel]: revision,
      },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(set.spec.serviceName && { subdomain: set.spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

export const identityMatches = (set: SeenStatefulSet, { metadata }: SeenPod, { names }: Dialect): boolean =>
  parentAndOrdinal(metadata.name!)[0] === set.metadata.name &&
  metadata.labels?.[names.labels.statefulSetPodName] === metadata.name;

export const storageMatches = (set: SeenStatefulSet, { metadata, spec }: SeenPod): boolean =>
  [...claimsOf(set, ordinalOf({ metadata }))].every(([name, claim]) =>
    spec.volumes?.some(
      (volume) => volume.name === name && volume.persistentVolumeClaim?.claimName === claim.metadata.name,
    ),
  );
