// Roles and bindings as the authorizer reads them: from the caches, parsed once per version.
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "#api";
import type { RbacSource } from "#authz";
import type { Resource } from "#registry";
import type { Held } from "#watchcache";
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
  const parsed = new WeakMap<Held, object>();
  const object = <T extends object>(resource: Resource, held: Held | undefined): T | undefined => {
    if (!held) return undefined;
    let known = parsed.get(held);
    if (!known) parsed.set(held, (known = resource.objectOf(held)));
    return known as T;
  };
  return {
    // Revisions only grow, so that the sum of the four differs whenever one of them does.
    version: () =>
      clusterRoles.source.lastChange() +
      roles.source.lastChange() +
      clusterBindings.source.lastChange() +
      bindings.source.lastChange(),
    clusterRole: (name) => object<ClusterRole>(clusterRoles, clusterRoles.source.peek(name)),
    role: (namespace, name) => object<Role>(roles, roles.source.peek(`${namespace}/${name}`)),
    clusterRoleBindings: () =>
      clusterBindings.source.peekAll("").map((held) => object<ClusterRoleBinding>(clusterBindings, held)!),
    roleBindings: (namespace) =>
      bindings.source.peekAll(`${namespace}/`).map((held) => object<RoleBinding>(bindings, held)!),
  };
}
