// Roles and bindings as the authorizer reads them: from the caches, parsed once per version.
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "#api";
import type { RbacSource } from "#authz";
import type { Resource } from "#registry";
import type { CachedObject } from "#watchcache";
import type { Core } from "./server.ts";

export function rbacSource(core: Core): RbacSource {
  const [clusterRoles, roles, clusterBindings, bindings] = [
    "clusterroles",
    "roles",
    "clusterrolebindings",
    "rolebindings",
  ].map((name) => core.resources.get(`rbac.authorization/${name}`)!) as [
    Resource,
    Resource,
    Resource,
    Resource,
  ];
  const parsed = new WeakMap<CachedObject, object>();
  const object = <T extends object>(resource: Resource, cached: CachedObject | undefined): T | undefined => {
    if (!cached) return undefined;
    let known = parsed.get(cached);
    if (!known) parsed.set(cached, (known = resource.objectOf(cached)));
    return known as T;
  };
  return {
    // Revisions only grow, so that the sum of the four differs whenever one of them does.
    version: () =>
      clusterRoles.source.lastChange() +
      roles.source.lastChange() +
      clusterBindings.source.lastChange() +
      bindings.source.lastChange(),
    clusterRole: (name) => object<ClusterRole>(clusterRoles, clusterRoles.source.getCached(name)),
    role: (namespace, name) => object<Role>(roles, roles.source.getCached(`${namespace}/${name}`)),
    clusterRoleBindings: () =>
      clusterBindings.source
        .listCached("")
        .map((cached) => object<ClusterRoleBinding>(clusterBindings, cached)!),
    roleBindings: (namespace) =>
      bindings.source.listCached(`${namespace}/`).map((cached) => object<RoleBinding>(bindings, cached)!),
  };
}
