// Nothing is created in a namespace that is not there or is on its way out, and the namespaces of the system
// itself stay.
import { type ApiError, forbidden, notFound } from "#base";
import type { AdmissionPlugin, Attempt } from "../attempt.ts";

/** Tells whether a namespace exists and is active, as of now. */
export type NamespaceLookup = (name: string) => Promise<"active" | "terminating" | "absent">;

export function namespaceLifecycle(lookup: NamespaceLookup, immortal: readonly string[]): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: ["CREATE", "UPDATE", "DELETE"],
    mutate: async (attempt) => {
      if (isNamespace(attempt)) {
        if (attempt.operation === "DELETE" && immortal.includes(attempt.name))
          throw forbidden(attempt.resource, attempt.name, "this namespace may not be deleted");
        return;
      }
      if (attempt.namespace === "" || attempt.operation === "DELETE" || isAccessReview(attempt)) return;
      const state = await lookup(attempt.namespace);
      if (state === "absent") throw notFound({ group: "", resource: "namespaces" }, attempt.namespace);
      if (state === "terminating" && attempt.operation === "CREATE") throw terminating(attempt);
    },
  };
}

const isNamespace = ({ resource }: Attempt): boolean =>
  resource.group === "" && resource.resource === "namespaces";

// Asking what one may do in a namespace must work whether or not it exists.
const isAccessReview = ({ resource }: Attempt): boolean => resource.resource === "localsubjectaccessreviews";

function terminating({ resource, name, namespace }: Attempt): ApiError {
  const error = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  Object.assign(error, {
    details: {
      ...error.details,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  });
  return error;
}
