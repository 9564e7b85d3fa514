// The default roles and bindings of a cluster, created and reconciled at start.
import { bootstrapPolicy, reconcile } from "#authz";
import { type ApiObject, type Resource, type ServerObjects, remove, update } from "#registry";
import type { ClusterRole, ClusterRoleBinding } from "#api";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";

/**
 * Creates the default roles and bindings; `enabled` reports whether a feature gate is on, since some rules
 * depend on gates.
 */
export const systemRoles = (server: ServerObjects, enabled: (gate: string) => boolean): PostStartHook =>
  postStartHook({
    name: "poststarthook/rbac/bootstrap-roles",
    reconcile: () => bootstrapRoles(server, enabled),
    failed: ({ message: error }) =>
      server.onError("default roles could not be reconciled; retrying", {
        error,
      }),
  });

async function bootstrapRoles(server: ServerObjects, enabled: (gate: string) => boolean): Promise<void> {
  const policy = bootstrapPolicy(server.dialect, enabled);
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = server.resources;
  const groups: [handle: { readonly resource: Resource }, objects: readonly unknown[]][] = [
    [clusterRoles, policy.clusterRoles],
    [clusterRoleBindings, await withInherited(server, policy.clusterRoleBindings)],
    [roles, policy.roles],
    [roleBindings, policy.roleBindings],
  ];
  for (const [{ resource }, objects] of groups) {
    await Promise.all(
      objects.map((object) =>
        reconcileObject(server, resource, object as ApiObject & Record<string, unknown>),
      ),
    );
  }
}

// Public information was once part of the discovery role. If a cluster has restricted the binding of that
// role, creating the binding of the newer role must not grant the access again: a missing binding inherits
// the subjects of the old one.
const [discoveryRole, publicInfoRole] = ["system:discovery", "system:public-info-viewer"];

async function withInherited(
  server: ServerObjects,
  bindings: readonly ClusterRoleBinding[],
): Promise<readonly ClusterRoleBinding[]> {
  const { resource } = server.resources.clusterRoleBindings;
  const stored = await resource.source.get(resource.keyOf("", discoveryRole), { at: "any" });
  if (!stored) return bindings;
  const { subjects, metadata } = resource.objectOf(stored) as unknown as ClusterRoleBinding;
  const { labels, annotations } = metadata;
  return bindings.map((expected) => {
    if (expected.metadata.name !== publicInfoRole) return expected;
    const { subjects: _own, ...rest } = expected;
    const inherited: ClusterRoleBinding = {
      ...rest,
      metadata: { ...expected.metadata, labels, annotations },
      ...(subjects && { subjects }),
    };
    const found = reconcile(inherited, expected, server.dialect);
    return found.action === "update" ? found.object : inherited;
  });
}

async function reconcileObject(
  server: ServerObjects,
  resource: Resource,
  expected: ApiObject & Record<string, unknown>,
): Promise<void> {
  const { name = "", namespace = "" } = expected.metadata;
  const cached = await resource.source.get(resource.keyOf(namespace, name), { at: "any" });
  const endpoint = resource.endpoints[0]!;
  if (!cached) {
    await server.writer.ensure(endpoint, expected);
    return;
  }
  const request = server.writer.request(endpoint, namespace);
  const found = reconcile(
    resource.objectOf(cached) as unknown as ClusterRole,
    expected as unknown as ClusterRole,
    server.dialect,
  );
  if (found.action === "update") await update(request, name, { transform: () => found.object });
  if (found.action !== "recreate") return;
  await remove(request, name, {});
  await server.writer.ensure(endpoint, expected);
}
