// Resolves a claim to its bound volume, with the checks that keep a pod from using another's data.
import { PersistentVolume, PersistentVolumeClaim, type Pod, podMatchesNode } from "#api";
import type { ApiClient, ResourceKind } from "#client";
import { keyOf, namespaceOf, uidOf } from "../pod.ts";
import type { NodeFacts } from "../interfaces.ts";
import { VolumeOperationError } from "./operation-error.ts";

const claims: ResourceKind<typeof PersistentVolumeClaim> = {
  schema: PersistentVolumeClaim,
  plural: "persistentvolumeclaims",
  namespaced: true,
};
const volumes: ResourceKind<typeof PersistentVolume> = {
  schema: PersistentVolume,
  plural: "persistentvolumes",
  namespaced: false,
};

/** The claim has no usable volume, so there is nothing to mount yet. */
export class ClaimError extends Error {
  override readonly name = "ClaimError";
}

/** How the pod's containers use the volume of a claim. */
export interface ClaimUse {
  readonly volumeName: string;
  /** Used as a block device rather than mounted. */
  readonly asDevice: boolean;
  /** The claim was created for this very pod (ephemeral volume). */
  readonly isForPod: boolean;
}

/**
 * Returns the volume bound to a claim of the pod's namespace. Throws while it is not bound, or must not be
 * used here.
 */
export async function boundVolume(
  client: ApiClient | undefined,
  node: Pick<NodeFacts, "name" | "labels">,
  pod: Pod,
  claimName: string,
  { volumeName, asDevice, isForPod }: ClaimUse,
): Promise<{ readonly claim: PersistentVolumeClaim; readonly persistent: PersistentVolume }> {
  if (!client) throw new Error("claims require an API server");
  const namespace = namespaceOf(pod);
  const claimed = `${namespace}/${claimName}`;
  const claimError = (why: string, options?: ErrorOptions): ClaimError =>
    new ClaimError(`error processing PVC ${claimed}: ${why}`, options);
  const claim = await client
    .of(claims)
    .get(claimName, { namespace })
    .catch((error: unknown) => {
      throw claimError(`failed to fetch PVC from API server: ${(error as Error).message}`, { cause: error });
    });
  if (claim.metadata.deletionTimestamp) throw claimError("PVC is being deleted");
  const name = claim.spec?.volumeName;
  if (claim.status?.phase !== "Bound") throw claimError("PVC is not bound");
  if (!name) throw claimError("PVC has empty pvc.Spec.VolumeName");
  if (
    isForPod &&
    !claim.metadata.ownerReferences?.some(({ uid, controller }) => uid === uidOf(pod) && controller)
  ) {
    throw new ClaimError(`PVC ${claimed} was not created for pod ${keyOf(pod)} (pod is not owner)`);
  }
  const volume = await client
    .of(volumes)
    .get(name)
    .catch((error: unknown) => {
      throw claimError(`failed to fetch PV ${name} from API server: ${(error as Error).message}`, {
        cause: error,
      });
    });
  const boundTo = volume.spec?.claimRef;
  if (!boundTo)
    throw claimError(
      `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    );
  if (boundTo.uid !== claim.metadata.uid)
    throw claimError(
      `found PV object ${name} but its pv.Spec.ClaimRef.UID ${boundTo.uid ?? ""} does not point to claim.UID ${claim.metadata.uid ?? ""}`,
    );
  const required = volume.spec?.nodeAffinity?.required;
  if (required) {
    const podSpec = {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    };
    if (!podMatchesNode(podSpec, { name: node.name, labels: node.labels() }))
      throw new VolumeOperationError(
        "FailedMount",
        `${asDevice ? "MapVolume" : "MountVolume"}.NodeAffinity check failed`,
        name,
        "no matching NodeSelectorTerms",
      );
  }
  const mode = volume.spec?.volumeMode ?? "Filesystem";
  if ((mode === "Block") !== asDevice)
    throw new ClaimError(
      `volume ${volumeName} has volumeMode ${mode}, but is specified in ${asDevice ? "volumeDevices" : "volumeMounts"}`,
    );
  return { claim, persistent: volume };
}
