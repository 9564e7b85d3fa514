// Times of field managers that a write has just set. kube-apiserver keeps them with nanoseconds until the object
// is encoded for the first time, so that its first patch by a webhook counts as a change whatever it contains.
import { isDeepStrictEqual } from "node:util";
import type { VersionedObjects } from "../attributes.ts";
import { isObject } from "./review-document.ts";

/** Metadata that no manager owns. */
const unowned = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "selfLink",
  "managedFields",
]);

/** Reports whether the write set the time of a manager: it does if it changes a field or a manager. */
export function setsManagerTime({ object, oldObject }: VersionedObjects): boolean {
  const managers = managersOf(object);
  if (!managers || managers.length === 0) return false;
  return (
    !isDeepStrictEqual(managers, managersOf(oldObject)) || !isDeepStrictEqual(owned(object), owned(oldObject))
  );
}

function managersOf(object: VersionedObjects["object"]): readonly unknown[] | undefined {
  const metadata = object?.["metadata"];
  return isObject(metadata) ? (metadata["managedFields"] as readonly unknown[] | undefined) : undefined;
}

function owned(object: VersionedObjects["object"]): unknown {
  const metadata = Object.entries((object?.["metadata"] as object | undefined) ?? {});
  return { ...object, metadata: Object.fromEntries(metadata.filter(([key]) => !unowned.has(key))) };
}
