// Missing namespaces: created on demand, or required to exist.
import { ApiError, forbidden, notFound } from "#base";
import type { AdmissionPlugin, AdmissionAttributes } from "../attributes.ts";
import type { NamespaceLookup } from "./namespace-lifecycle.ts";

const inNamespace = ({ namespace, resource }: AdmissionAttributes): boolean =>
  namespace !== "" && !(resource.group === "" && resource.resource === "namespaces");

export const namespaceAutoProvision = (
  lookup: NamespaceLookup,
  make: (name: string) => Promise<void>,
): AdmissionPlugin => ({
  name: "NamespaceAutoProvision",
  handles: ["CREATE"],
  mutate: async (attributes) => {
    if (attributes.dryRun || !inNamespace(attributes)) return;
    if ((await lookup(attributes.namespace)) !== "absent") return;
    try {
      await make(attributes.namespace);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw forbidden(attributes.resource, attributes.name, error.message);
    }
  },
});

export const namespaceExists = (lookup: NamespaceLookup): AdmissionPlugin => ({
  name: "NamespaceExists",
  handles: ["CREATE", "UPDATE", "DELETE"],
  validate: async (attributes) => {
    if (inNamespace(attributes) && (await lookup(attributes.namespace)) === "absent")
      throw notFound({ group: "", resource: "namespaces" }, attributes.namespace);
    return [];
  },
});
