// Namespaces that are not there: made when first needed, or simply insisted upon.
import { notFound } from "#base";
import type { AdmissionPlugin, Attempt } from "../attempt.ts";
import type { NamespaceLookup } from "./namespace-lifecycle.ts";

const inNamespace = ({ namespace, resource }: Attempt): boolean =>
  namespace !== "" && !(resource.group === "" && resource.resource === "namespaces");

export const namespaceAutoProvision = (
  lookup: NamespaceLookup,
  make: (name: string) => Promise<void>,
): AdmissionPlugin => ({
  name: "NamespaceAutoProvision",
  handles: ["CREATE"],
  mutate: async (attempt) => {
    if (attempt.dryRun || !inNamespace(attempt)) return;
    if ((await lookup(attempt.namespace)) === "absent") await make(attempt.namespace);
  },
});

export const namespaceExists = (lookup: NamespaceLookup): AdmissionPlugin => ({
  name: "NamespaceExists",
  handles: ["CREATE", "UPDATE", "DELETE"],
  validate: async (attempt) => {
    if (inNamespace(attempt) && (await lookup(attempt.namespace)) === "absent")
      throw notFound({ group: "", resource: "namespaces" }, attempt.namespace);
    return [];
  },
});
