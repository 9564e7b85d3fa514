// Roles and bindings as the RBAC authorizer reads them: from the caches.
import type { RbacSource } from "#authz";
import type { Resources } from "#registry";

export function rbacSource({
  clusterRoles,
  roles,
  clusterRoleBindings,
  roleBindings,
}: Pick<Resources, "clusterRoles" | "roles" | "clusterRoleBindings" | "roleBindings">): RbacSource {
  const handles = [clusterRoles, roles, clusterRoleBindings, roleBindings];
  return {
    // Revisions only grow, so that the sum of the four differs whenever one of them does.
    version: () => handles.reduce((sum, { resource }) => sum + resource.source.lastChange(), 0),
    clusterRole: (name) => clusterRoles.getCached(name),
    role: (namespace, name) => roles.getCached(`${namespace}/${name}`),
    clusterRoleBindings: () => clusterRoleBindings.listCached(""),
    roleBindings: (namespace) => roleBindings.listCached(`${namespace}/`),
  };
}
