// Write helpers for controllers: status updates guarded by resourceVersion, and small patches.
import { isDeepStrictEqual } from "node:util";
import type { AnyObject, PatchType, ResourceClient } from "#client";
import { mergePatch } from "#schema";

/**
 * Replaces the status unless it is unchanged. A concurrent change fails with Conflict, which the queue
 * retries.
 */
export async function writeStatus<T extends AnyObject & { status: unknown }>(
  resource: Pick<ResourceClient<T>, "update">,
  object: T,
  status: T["status"],
): Promise<T> {
  if (isDeepStrictEqual(withoutUndefined(object.status), withoutUndefined(status))) return object;
  return await resource.update({ ...object, status }, { subresource: "status" });
}

export interface PatchTarget {
  readonly subresource?: string;
  readonly type?: PatchType;
  /** Fails the patch if the object has changed since it was read. */
  readonly ifUnchanged?: boolean;
}

/** Patches the object identified by its uid, never a later object of the same name. */
export async function patchObject<T extends AnyObject>(
  resource: Pick<ResourceClient<T>, "patch">,
  { metadata }: AnyObject,
  patch: { readonly metadata?: object; readonly [field: string]: unknown },
  { subresource, type = "merge", ifUnchanged = false }: PatchTarget = {},
): Promise<T> {
  const { uid, resourceVersion, name, namespace } = metadata;
  const body = {
    ...patch,
    metadata: { ...patch.metadata, uid, ...(ifUnchanged && { resourceVersion }) },
  };
  return await resource.patch(name!, type, body, {
    ...(namespace && { namespace }),
    ...(subresource && { subresource }),
  });
}

/**
 * Applies a merge patch locally and updates the object, provided it has not changed since it was read. For
 * kinds that the controller's role lets it update but not patch.
 */
export async function replaceObject<T extends AnyObject>(
  resource: Pick<ResourceClient<T>, "update">,
  object: T,
  patch: object,
  subresource?: string,
): Promise<T> {
  const changed = mergePatch(withoutUndefined(object) as never, patch) as unknown as T;
  return await resource.update(changed, subresource === undefined ? {} : { subresource });
}

/** Returns the value as it would be serialized: without undefined fields. */
export const withoutUndefined = <T>(value: T): T => JSON.parse(JSON.stringify(value ?? null)) as T;
