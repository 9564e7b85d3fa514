// Provides roles and bindings from the caches to the RBAC authorizer.
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
    // Change counts only increase, so their sum differs whenever one of them does. Revisions are not usable:
    // a store that was restored to an earlier state issues the same revisions again.
    version: () => handles.reduce((sum, { resource }) => sum + resource.source.changeCount(), 0),
    clusterRole: (name) => clusterRoles.getCached(name),
    role: (namespace, name) => roles.getCached(`${namespace}/${name}`),
    clusterRoleBindings: () => clusterRoleBindings.listCached(""),
    roleBindings: (namespace) => roleBindings.listCached(`${namespace}/`),
  };
}
