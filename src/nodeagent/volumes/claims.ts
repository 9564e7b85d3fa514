// Resolves a claim to its bound volume, with the checks that keep a pod from using another's data.
import { PersistentVolume, PersistentVolumeClaim, type Pod, podMatchesNode } from "#api";
import { ApiError } from "#base";
import type { ApiClient, ResourceKind } from "#client";
import { namespaceOf, uidOf } from "../pod.ts";
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
  if (
    isForPod &&
    !claim.metadata.ownerReferences?.some(({ uid, controller }) => uid === uidOf(pod) && controller)
  ) {
    throw new Error(`PVC ${claimed} was not created for the pod (pod is not owner)`);
  }
  if (claim.metadata.deletionTimestamp) throw claimError("PVC is being deleted");
  const name = claim.spec?.volumeName;
  if (claim.status?.phase !== "Bound" || !name) throw claimError("PVC is not bound");
  const volume = await client
    .of(volumes)
    .get(name)
    .catch((error: unknown) => {
      const missing = error instanceof ApiError && error.code === 404;
      throw claimError(
        missing ? `persistentvolume ${JSON.stringify(name)} not found` : (error as Error).message,
        { cause: error },
      );
    });
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid)
    throw claimError(`PV ${name} is bound to another claim`);
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
