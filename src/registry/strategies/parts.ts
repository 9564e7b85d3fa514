// The subresource that nearly every kind has: the status, written by whoever acts on the object.
import type { FieldError } from "#base";
import type { ApiObject, RequestContext, PartSubresource } from "../strategy.ts";

interface WithStatus extends ApiObject {
  status: unknown;
}

/** Takes metadata and status from what was sent and the rest from what is there. */
export function statusPart<T extends WithStatus>(
  validate?: (obj: T, old: T, ctx: RequestContext) => FieldError[],
): PartSubresource<T> {
  return {
    merge: (sent, old) => ({ ...old, metadata: sent.metadata, status: sent.status }),
    ...(validate && { validate }),
    resets: ["spec"],
  };
}

/** The same, for kinds whose metadata only the object's own door changes. */
export function bareStatusPart<T extends WithStatus>(validate: (obj: T) => FieldError[]): PartSubresource<T> {
  return {
    merge: (sent, old) => {
      const { resourceVersion, managedFields } = sent.metadata;
      return { ...old, metadata: { ...old.metadata, resourceVersion, managedFields }, status: sent.status };
    },
    validate,
    resets: ["spec", "metadata"],
    metaChecks: { asChange: 0 },
  };
}
