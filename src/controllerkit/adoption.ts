// Claims objects for a controller by owner reference and selector: matching orphans are adopted, owned
// objects that no longer match are released.
import type { OwnerReference } from "#api";
import { ApiError, type LabelSelectorLike, fromLabelSelector } from "#base";
import type { AnyObject, ResourceClient } from "#client";
import { ignoreReasons, isNotFound } from "./ignore-reasons.ts";

export const controllerOf = ({ metadata }: Pick<AnyObject, "metadata">): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

export const isControlledBy = (object: Pick<AnyObject, "metadata">, uid: string | undefined): boolean =>
  controllerOf(object)?.uid === uid;

/** Returns the owner reference that a controller sets on objects it creates. */
export const controllerReference = ({ apiVersion, kind, metadata }: AnyObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
  controller: true,
  blockOwnerDeletion: true,
});

/** Reports whether an API label selector matches the labels; an absent selector matches nothing. */
export function selects(
  selector: LabelSelectorLike | undefined | null,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector ? fromLabelSelector(selector).matches({ labels: labels ?? {}, fields: {} }) : false;
}

/** Like `selects`, for the plain map selectors of services and replication controllers. */
export const selectsMap = (
  selector: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean => Object.entries(selector ?? {}).every(([key, value]) => labels?.[key] === value);

export interface ClaimOptions<T extends AnyObject> {
  readonly owner: AnyObject;
  readonly matches: (object: T) => boolean;
  readonly resource: Pick<ResourceClient<T>, "patch">;
  /** Reads the owner from the API server before the first adoption: a stale owner must not adopt. */
  readonly freshOwner: () => Promise<AnyObject>;
  /** Finalizer added to adopted objects and removed from released ones. */
  readonly finalizer?: string;
}

/** Adopts and releases candidates; returns the objects that belong to the owner afterwards. */
export async function claim<T extends AnyObject>(
  candidates: readonly T[],
  { owner, matches, resource, freshOwner, finalizer }: ClaimOptions<T>,
): Promise<T[]> {
  const uid = owner.metadata.uid!;
  const owned: T[] = [];
  let mayAdopt: Promise<boolean> | undefined;
  const checkOwner = async (): Promise<boolean> => {
    const fresh = await freshOwner();
    if (fresh.metadata.uid !== uid)
      throw new Error(`original ${owner.kind} ${owner.metadata.namespace}/${owner.metadata.name} is gone`);
    return !fresh.metadata.deletionTimestamp;
  };
  for (const object of candidates) {
    const controller = controllerOf(object);
    if (controller) {
      if (controller.uid !== uid) continue;
      if (matches(object)) owned.push(object);
      else if (!owner.metadata.deletionTimestamp) await release(object, uid, resource, finalizer);
      continue;
    }
    if (owner.metadata.deletionTimestamp || object.metadata.deletionTimestamp || !matches(object)) continue;
    mayAdopt ??= checkOwner();
    if (!(await mayAdopt)) continue;
    const adopted = await adopt(object, owner, resource, finalizer);
    if (adopted) owned.push(adopted);
  }
  return owned;
}

async function adopt<T extends AnyObject>(
  object: T,
  owner: AnyObject,
  resource: ClaimOptions<T>["resource"],
  finalizer: string | undefined,
): Promise<T | undefined> {
  const { name, namespace, uid } = object.metadata;
  const patch = {
    metadata: {
      uid,
      ownerReferences: [controllerReference(owner)],
      ...(finalizer && { finalizers: [finalizer] }),
    },
  };
  try {
    return await resource.patch(name!, "strategic", patch, { namespace: namespace! });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function release<T extends AnyObject>(
  { metadata }: T,
  owner: string,
  resource: ClaimOptions<T>["resource"],
  finalizer: string | undefined,
): Promise<void> {
  const patch = {
    metadata: {
      uid: metadata.uid,
      ownerReferences: [{ $patch: "delete", uid: owner }],
      ...(finalizer && { "$deleteFromPrimitiveList/finalizers": [finalizer] }),
    },
  };
  try {
    await ignoreReasons(
      ["NotFound"],
      resource.patch(metadata.name!, "strategic", patch, { namespace: metadata.namespace! }),
    );
  } catch (error) {
    // The uid belongs to a different object now, or the owner reference has been removed already.
    if (!(error instanceof ApiError && error.reason === "Invalid")) throw error;
  }
}
