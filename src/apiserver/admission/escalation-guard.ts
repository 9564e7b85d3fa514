// Prevents privilege escalation: users cannot grant permissions through roles and bindings that they do not
// hold. Runs among the admission plug-ins and cannot be disabled.
import type { ClusterRole, Role, RoleBinding } from "#api";
import { type AdmissionPlugin, typed } from "#admission";
import { type EscalationOptions, checkBinding, checkRole, onlyOwnershipChanged } from "#authz";
import type { User } from "#authn";
import { type Dialect, groupName } from "#dialect";

export function escalationGuard(options: EscalationOptions, dialect: Dialect): AdmissionPlugin {
  const group = groupName(dialect, { group: "rbac.authorization", branded: true });
  return {
    name: "escalation guard",
    handles: ["CREATE", "UPDATE"],
    omitsPlaceholderName: true,
    mutate: async (attributes) => {
      const { resource, subresource, namespace, user: actor, object, oldObject } = attributes;
      const { pathName = attributes.name } = attributes;
      const user = actor as User;
      if (resource.group !== group || !object) return;
      if (oldObject && onlyOwnershipChanged(object as never, oldObject as never)) return;
      // Permissions for named roles do not extend to roles that are sent to the collection.
      const target = { ...resource, subresource, namespace, name: pathName };
      if (resource.resource === "roles" || resource.resource === "clusterroles")
        await checkRole(
          options,
          user,
          target,
          typed<Role | ClusterRole>(object),
          typed<Role | ClusterRole>(oldObject),
        );
      else
        await checkBinding(
          options,
          user,
          target,
          typed<{ metadata: { name: string }; roleRef: RoleBinding["roleRef"] }>(object),
        );
    },
  };
}
