// Which objects belong to a controller: those it owns and selects. Ones it selects and nobody owns are adopted,
// ones it owns and no longer selects are released.
import type { OwnerReference } from "#api";
import { ApiError, type LabelSelectorLike, fromLabelSelector } from "#base";
import type { AnyObject, ResourceClient } from "#client";
import { ignoreReasons, isNotFound } from "./ignore-reasons.ts";

export const controllerOf = ({ metadata }: Pick<AnyObject, "metadata">): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

export const isControlledBy = (object: Pick<AnyObject, "metadata">, uid: string | undefined): boolean =>
  controllerOf(object)?.uid === uid;

/** The reference by which a controller owns what it makes. */
export const controllerReference = ({ apiVersion, kind, metadata }: AnyObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
  controller: true,
  blockOwnerDeletion: true,
});

/** Whether a label selector as objects carry it selects these labels; an absent one selects nothing. */
export function selects(
  selector: LabelSelectorLike | undefined | null,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector ? fromLabelSelector(selector).matches({ labels: labels ?? {}, fields: {} }) : false;
}

/** The same for the plain maps of services and replication controllers. */
export const selectsMap = (
  selector: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean => Object.entries(selector ?? {}).every(([key, value]) => labels?.[key] === value);

export interface ClaimOptions<T extends AnyObject> {
  readonly owner: AnyObject;
  readonly matches: (object: T) => boolean;
  readonly resource: Pick<ResourceClient<T>, "patch">;
  /** Read from the server before the first adoption: a stale owner must not adopt. */
  readonly freshOwner: () => Promise<AnyObject>;
  /** Finalizers that adopted objects get, and released ones lose. */
  readonly finalizer?: string;
}

/** Adopts and releases; gives what belongs to the owner afterwards. */
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
    // It has become another object, or has lost its owner already.
    if (!(error instanceof ApiError && error.reason === "Invalid")) throw error;
  }
}
