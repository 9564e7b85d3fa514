// Refuses new objects in missing or terminating namespaces, and the deletion of system namespaces.
import { type ApiError, forbidden, notFound } from "#base";
import type { AdmissionPlugin, AdmissionAttributes } from "../attributes.ts";

export type NamespaceState = "active" | "terminating" | "absent";

/** Returns the current state of a namespace; synchronously if it is cached. */
export type NamespaceLookup = (name: string) => NamespaceState | Promise<NamespaceState>;

export function namespaceLifecycle(lookup: NamespaceLookup, immortal: readonly string[]): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: ["CREATE", "UPDATE", "DELETE"],
    mutate: (attributes) => {
      if (isNamespace(attributes)) {
        if (attributes.operation === "DELETE" && immortal.includes(attributes.name))
          throw forbidden(attributes.resource, attributes.name, "this namespace may not be deleted");
        return undefined;
      }
      if (attributes.namespace === "" || attributes.operation === "DELETE" || isAccessReview(attributes))
        return undefined;
      const state = lookup(attributes.namespace);
      if (typeof state === "string") return checkState(state, attributes);
      return state.then((found) => checkState(found, attributes));
    },
  };
}

function checkState(state: NamespaceState, attributes: AdmissionAttributes): undefined {
  if (state === "absent") throw notFound({ group: "", resource: "namespaces" }, attributes.namespace);
  if (state === "terminating" && attributes.operation === "CREATE") throw terminating(attributes);
}

const isNamespace = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === "" && resource.resource === "namespaces";

// Access reviews must work whether or not the namespace exists.
const isAccessReview = ({ resource }: AdmissionAttributes): boolean =>
  resource.resource === "localsubjectaccessreviews";

function terminating({ resource, name, namespace }: AdmissionAttributes): ApiError {
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
