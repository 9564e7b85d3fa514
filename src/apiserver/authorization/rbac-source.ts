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
    // Counts only grow, so that their sum differs whenever one of them does. Revisions would not do: a store
    // that was set back gives them again.
    version: () => handles.reduce((sum, { resource }) => sum + resource.source.changeCount(), 0),
    clusterRole: (name) => clusterRoles.getCached(name),
    role: (namespace, name) => roles.getCached(`${namespace}/${name}`),
    clusterRoleBindings: () => clusterRoleBindings.listCached(""),
    roleBindings: (namespace) => roleBindings.listCached(`${namespace}/`),
  };
}
