// Plugins that only refuse: all requests, external IPs, and owner references without permission.
import type { ObjectMeta, OwnerReference, Service } from "#api";
import type { User } from "#authn";
import type { Authorizer, ResourceTarget } from "#authz";
import { forbidden } from "#base";
import { isDeepStrictEqual } from "node:util";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);

/** Deprecated upstream and without effect. */
export const alwaysAdmit: AdmissionPlugin = { name: "AlwaysAdmit", handles: [] };

export const alwaysDeny: AdmissionPlugin = {
  name: "AlwaysDeny",
  handles: ["CREATE", "UPDATE", "DELETE", "CONNECT"],
  mutate: async (attributes) => {
    throw refused(attributes, "admission control is denying all modifications");
  },
};

export const denyServiceExternalIPs: AdmissionPlugin = {
  name: "DenyServiceExternalIPs",
  handles: ["CREATE", "UPDATE"],
  resources: ["services"],
  validate: async (attributes) => {
    if (attributes.resource.group !== "" || attributes.subresource) return [];
    const old = new Set(typed<Service | undefined>(attributes.oldObject)?.spec.externalIPs);
    const added = typed<Service>(attributes.object).spec.externalIPs?.some((address) => !old.has(address));
    if (added) throw refused(attributes, "Use of external IPs is denied by admission control");
    return [];
  },
};

export interface OwnerOptions {
  readonly authorizer: Authorizer;
  /** Returns the resources of a kind; undefined if it is unknown. */
  readonly resourcesOf: (
    apiVersion: string,
    kind: string,
  ) =>
    | readonly {
        readonly group: string;
        readonly version: string;
        readonly resource: string;
        readonly namespaced: boolean;
      }[]
    | undefined;
}

/**
 * Requires permission to delete an object in order to set its owners, and permission to update the finalizers
 * of an owner in order to block its deletion.
 */
export function ownerReferencesPermission({ authorizer, resourcesOf }: OwnerOptions): AdmissionPlugin {
  /** Returns why the user is not allowed, as the reference words it; undefined if allowed. */
  const whyNot = async (
    attributes: AdmissionAttributes,
    verb: string,
    target: Partial<ResourceTarget>,
  ): Promise<string | undefined> => {
    const resource = {
      group: "",
      version: "",
      resource: "",
      subresource: "",
      namespace: "",
      name: "",
      ...target,
    };
    const decision = await authorizer.decide({ user: attributes.user as User, verb, resource });
    return decision.verdict === "allow" ? undefined : `${decision.reason}, ${decision.error ?? "<nil>"}`;
  };
  return {
    name: "OwnerReferencesPermissionEnforcement",
    handles: ["CREATE", "UPDATE"],
    validate: async (attributes) => {
      const { resource, subresource, namespace, name, operation } = attributes;
      // The status subresource of a pod cannot change its owners.
      if (resource.group === "" && resource.resource === "pods" && subresource === "status") return [];
      const [owners, before] = [ownersOf(attributes.object), ownersOf(attributes.oldObject)];
      if (isDeepStrictEqual(owners, before)) return [];
      const undeletable =
        operation === "CREATE"
          ? undefined
          : await whyNot(attributes, "delete", { ...resource, subresource, namespace, name });
      if (undeletable !== undefined)
        throw refused(attributes, `cannot set an ownerRef on a resource you can't delete: ${undeletable}`);
      const blocked = new Set(
        before.flatMap(({ blockOwnerDeletion, uid }) => (blockOwnerDeletion ? [uid] : [])),
      );
      const blocking = owners.filter(
        ({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !blocked.has(uid),
      );
      if (
        blocking.length === 0 ||
        (await whyNot(attributes, "update", {
          group: "*",
          version: "*",
          resource: "*",
          subresource: "finalizers",
          name: "*",
        })) === undefined
      )
        return [];
      for (const owner of blocking) await checkOwner(attributes, owner);
      return [];
    },
  };

  async function checkOwner(
    attributes: AdmissionAttributes,
    { apiVersion, kind, name }: OwnerReference,
  ): Promise<void> {
    const found = resourcesOf(apiVersion, kind);
    if (!found)
      throw refused(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
      );
    for (const { group, version, resource, namespaced } of found) {
      const target = {
        group,
        version,
        resource,
        subresource: "finalizers",
        name,
        namespace: namespaced ? attributes.namespace : "",
      };
      const why = await whyNot(attributes, "update", target);
      if (why !== undefined)
        throw refused(
          attributes,
          `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${why}`,
        );
    }
  }
}

const ownersOf = (object: Record<string, unknown> | undefined): readonly OwnerReference[] =>
  (object?.["metadata"] as ObjectMeta | undefined)?.ownerReferences ?? [];
