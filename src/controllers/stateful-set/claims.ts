// Volume claims of a stateful set's pods: created with the pod, and owned according to the retention policy.
import type { OwnerReference } from "#api";
import { type AnyObject, type ApiClient, type EventRecorder, kinds } from "#client";
import { type ClusterView, isAlreadyExists, replaceObject } from "#controllerkit";
import { type SeenStatefulSet, claimsOf, isInRange, ordinalOf } from "./identity.ts";

export interface StatefulClaims {
  create(set: SeenStatefulSet, pod: Pick<AnyObject, "metadata">): Promise<void>;
  /** Reports whether the claims of the pod have the owners that the policy requires. */
  match(set: SeenStatefulSet, pod: AnyObject): boolean;
  setOwners(set: SeenStatefulSet, pod: AnyObject): Promise<void>;
  /**
   * Reports whether a claim is owned by an earlier pod of the same name and is about to be deleted with it.
   */
  isStale(set: SeenStatefulSet, podName: string): boolean;
}

/** Returns who should own a pod's claims: the set, the pod, or neither. */
export function desiredOwner(set: SeenStatefulSet, ordinal: number): "set" | "pod" | "none" {
  const { whenScaled = "Retain", whenDeleted = "Retain" } =
    set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled === "Delete" && !isInRange(set, ordinal)) return "pod";
  return whenDeleted === "Delete" ? "set" : "none";
}

/** Returns the owner references of a claim after applying the policy. */
export function ownersFor(
  before: readonly OwnerReference[],
  set: SeenStatefulSet,
  pod: AnyObject,
): readonly OwnerReference[] {
  const wanted = desiredOwner(set, ordinalOf(pod));
  const owner = wanted === "set" ? set : wanted === "pod" ? pod : undefined;
  const others = before.filter(({ uid }) =>
    owner?.metadata.uid === uid ? true : uid !== set.metadata.uid && uid !== pod.metadata.uid,
  );
  if (!owner || others.some(({ uid }) => uid === owner.metadata.uid)) return others;
  const { apiVersion, kind, metadata } = owner;
  return [...others, { apiVersion, kind, name: metadata.name!, uid: metadata.uid! }];
}

/** Without `ownership`, claims are created but their owner references are left unchanged. */
export function statefulClaims(
  { client, view }: { readonly client: ApiClient; readonly view: ClusterView },
  events: EventRecorder,
  ownership: boolean,
): StatefulClaims {
  const resource = client.of(kinds.persistentVolumeClaims);
  const informer = view.follow(kinds.persistentVolumeClaims);
  const present = (set: SeenStatefulSet, ordinal: number) =>
    [...claimsOf(set, ordinal).values()].flatMap(
      ({ metadata }) => informer.get(set.metadata.namespace, metadata.name!) ?? [],
    );
  return {
    create: async (set, pod) => {
      const problems: string[] = [];
      for (const claim of claimsOf(set, ordinalOf(pod)).values()) {
        const { name, namespace } = claim.metadata;
        const known = informer.get(namespace, name!);
        if (known?.metadata.deletionTimestamp) problems.push(`pvc ${name} is being deleted`);
        if (known) continue;
        const suffix = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
        try {
          await resource.create(claim);
          events.event(set, "Normal", "SuccessfulCreate", `create Claim ${name} ${suffix} success`);
        } catch (error) {
          if (isAlreadyExists(error)) continue;
          const { message } = error as Error;
          problems.push(`failed to create PVC ${name}: ${message}`);
          const text = `create Claim ${name} for ${suffix} failed error: ${message}`;
          events.event(set, "Warning", "FailedCreate", text);
        }
      }
      if (problems.length > 0) throw new Error(problems.join(", "));
    },
    match: (set, pod) =>
      !ownership ||
      present(set, ordinalOf(pod)).every(({ metadata }) => {
        const before = metadata.ownerReferences ?? [];
        const after = ownersFor(before, set, pod);
        return after.length === before.length && after.every((each) => before.includes(each));
      }),
    setOwners: async (set, pod) => {
      for (const found of ownership ? present(set, ordinalOf(pod)) : []) {
        const before = found.metadata.ownerReferences ?? [];
        const after = ownersFor(before, set, pod);
        if (after.length === before.length && after.every((each) => before.includes(each))) continue;
        const ownerReferences = after.length > 0 ? after : null;
        await replaceObject(resource, found, { metadata: { ownerReferences } });
      }
    },
    isStale: (set, podName) =>
      ownership &&
      set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled === "Delete" &&
      present(set, ordinalOf({ metadata: { name: podName } as never })).some(({ metadata }) =>
        metadata.ownerReferences?.some(({ kind, name }) => kind === "Pod" && name === podName),
      ),
  };
}
