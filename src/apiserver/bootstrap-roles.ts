// The roles and bindings every cluster has, put in place and mended at start.
import { bootstrapPolicy, reconcile } from "#authz";
import type { ApiObject, Resource } from "#registry";
import { remove, update } from "#registry";
import type { ClusterRole } from "#api";
import { ensure, ownRequest } from "./bootstrap.ts";
import { type PostStartHook, postStartHook } from "./lifecycle/upkeep.ts";
import type { Core } from "./server.ts";

export const systemRoles = (core: Core): PostStartHook =>
  postStartHook({
    name: "poststarthook/rbac/bootstrap-roles",
    look: () => bootstrapRoles(core),
    failed: ({ message: error }) =>
      core.options.onError("roles that every cluster has could not be put right; it is tried again", {
        error,
      }),
  });

async function bootstrapRoles(core: Core): Promise<void> {
  const policy = bootstrapPolicy(core.options.dialect);
  const groups: [string, readonly unknown[]][] = [
    ["clusterroles", policy.clusterRoles],
    ["clusterrolebindings", policy.clusterRoleBindings],
    ["roles", policy.roles],
    ["rolebindings", policy.roleBindings],
  ];
  for (const [name, objects] of groups) {
    const resource = core.resources.get(`rbac.authorization/${name}`)!;
    await Promise.all(
      objects.map((object) => mend(core, resource, object as ApiObject & Record<string, unknown>)),
    );
  }
}

async function mend(
  core: Core,
  resource: Resource,
  expected: ApiObject & Record<string, unknown>,
): Promise<void> {
  const { name = "", namespace = "" } = expected.metadata;
  const cached = await resource.source.get(resource.keyOf(namespace, name), { at: "any" });
  const endpoint = resource.endpoints[0]!;
  if (!cached) {
    await ensure(core, endpoint, expected);
    return;
  }
  const request = ownRequest(core, endpoint, namespace);
  const found = reconcile(
    resource.objectOf(cached) as unknown as ClusterRole,
    expected as unknown as ClusterRole,
    core.options.dialect,
  );
  if (found.action === "update") await update(request, name, { transform: () => found.object });
  if (found.action !== "recreate") return;
  await remove(request, name, {});
  await ensure(core, endpoint, expected);
}
