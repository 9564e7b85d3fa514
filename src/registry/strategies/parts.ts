// The status subresource that nearly every kind has.
import type { FieldError } from "#base";
import type { ApiObject, RequestContext, PartSubresource } from "../strategy.ts";

interface WithStatus extends ApiObject {
  status: unknown;
}

/** Takes metadata and status from the request and the rest from the stored object. */
export function statusPart<T extends WithStatus>(
  validate?: (obj: T, old: T, ctx: RequestContext) => FieldError[],
): PartSubresource<T> {
  return {
    merge: (sent, old) => ({ ...old, metadata: sent.metadata, status: sent.status }),
    ...(validate && { validate }),
    resets: ["spec"],
  };
}

/** Same as statusPart, for kinds whose metadata is not writable through the status subresource. */
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
