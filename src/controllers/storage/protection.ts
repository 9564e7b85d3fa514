// Storage object in use protection: removes the finalizer of deleted claims and volumes once they are not in
// use.
import type { ObjectMeta, PersistentVolumeClaim, Pod } from "#api";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  queueFor,
  replaceObject,
} from "#controllerkit";

const isPending = ({ metadata }: { readonly metadata: ObjectMeta }, finalizer: string): boolean =>
  Boolean(metadata.deletionTimestamp && metadata.finalizers?.includes(finalizer));
const without = (
  { metadata: { resourceVersion, uid, finalizers } }: AnyObject,
  finalizer: string,
): object => ({
  metadata: { resourceVersion, uid, finalizers: (finalizers ?? []).filter((each) => each !== finalizer) },
});

/** Returns the names of the claims behind a pod's volumes. */
const claimsOf = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : []),
  );

/**
 * Reports whether the pod uses the claim. Only scheduled pods do: others are not started with a claim that is
 * being deleted.
 */
export function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { metadata, spec } = pod;
  if (!spec.nodeName) return false;
  const isTerminated = Boolean(metadata.deletionTimestamp) && metadata.deletionGracePeriodSeconds === 0;
  const isOwned = claim.metadata.ownerReferences?.some(
    ({ uid, controller }) => controller && uid === metadata.uid,
  );
  return (spec.volumes ?? []).some(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName === claim.metadata.name ||
      (ephemeral && isOwned && !isTerminated && `${metadata.name}-${name}` === claim.metadata.name),
  );
}

export function claimProtectionController(context: ControllerContext): Controller {
  const { client, view } = context;
  const finalizer = context.dialect.names.finalizers.claimProtection;
  const all = client.of(kinds.persistentVolumeClaims);
  const queue = queueFor(context, "claim protection", work);
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type, object }) => {
    if (type !== "deleted" && isPending(object, finalizer))
      queue.add(`${object.metadata.namespace}/${object.metadata.name}`);
  });
  view.follow(kinds.pods, ({ type, object }) => {
    const isTerminated =
      object.status.phase === "Succeeded" ||
      object.status.phase === "Failed" ||
      object.metadata.deletionGracePeriodSeconds === 0;
    if (type === "deleted" || isTerminated || !object.spec.nodeName)
      for (const name of claimsOf(object)) queue.add(`${object.metadata.namespace}/${name}`);
  });
  return { stopped: queue.stopped };

  async function work(key: string): Promise<void> {
    const [namespace, name] = key.split("/") as [string, string];
    const claim = claims.get(namespace, name);
    if (!claim || !isPending(claim, finalizer)) return;
    // The informer cache may be stale: confirm with the API server that no pod uses the claim.
    const { items } = await client.of(kinds.pods).list({ namespace });
    if (items.some((pod) => uses(pod, claim))) return;
    await ignoreReasons(["NotFound"], replaceObject(all, claim, without(claim, finalizer)));
  }
}

export function volumeProtectionController(context: ControllerContext): Controller {
  const { client, view } = context;
  const finalizer = context.dialect.names.finalizers.volumeProtection;
  const queue = queueFor(context, "volume protection", work);
  const isRemovable = (volume: {
    readonly metadata: ObjectMeta;
    readonly status: { readonly phase?: string | undefined };
  }): boolean => isPending(volume, finalizer) && volume.status.phase !== "Bound";
  const volumes = view.follow(kinds.persistentVolumes, ({ type, object }) => {
    if (type !== "deleted" && isRemovable(object)) queue.add(object.metadata.name!);
  });
  return { stopped: queue.stopped };

  async function work(name: string): Promise<void> {
    const volume = volumes.get(undefined, name);
    if (volume && isRemovable(volume))
      await ignoreReasons(
        ["NotFound"],
        replaceObject(client.of(kinds.persistentVolumes), volume, without(volume, finalizer)),
      );
  }
}
