// Users, actions, and in-memory roles and bindings for the tests of this package.
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject } from "#api";
import type { User } from "#authn";
import type { Attributes, ResourceTarget } from "./authorizer.ts";
import type { RbacSource } from "./rbac.ts";

export const group = "rbac.authorization.example.com";
export const user = (name: string, ...groups: string[]): User => ({ name, groups });
export const on = (resource: string, more: Partial<ResourceTarget> = {}): ResourceTarget => {
  const [name = "", subresource = ""] = resource.split("/");
  return { group: "", version: "v1", resource: name, subresource, namespace: "", name: "", ...more };
};
export const asks = (verb: string, what: ResourceTarget | string, who: User = user("bob")): Attributes =>
  typeof what === "string" ? { user: who, verb, path: what } : { user: who, verb, resource: what };
export const rule = (verbs: string[], resources: string[], more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources,
  ...more,
});

/**
 * Parses roles and bindings written as lines: `role ns/name`, `binding ns/name role subjects…`; without a
 * namespace they are cluster-wide.
 */
export function sourceOf() {
  const clusterRoles = new Map<string, ClusterRole>();
  const roles = new Map<string, Role>();
  const clusterBindings: ClusterRoleBinding[] = [];
  const bindings: RoleBinding[] = [];
  let version = 0;
  let reads = 0;
  const source: RbacSource = {
    version: () => version,
    clusterRole: (name) => clusterRoles.get(name),
    role: (namespace, name) => roles.get(`${namespace}/${name}`),
    clusterRoleBindings: () => (reads++, clusterBindings),
    roleBindings: (namespace) => (
      reads++,
      bindings.filter(({ metadata }) => metadata.namespace === namespace)
    ),
  };
  const subjectOf = (text: string): Subject => {
    const [kind = "", name = "", namespace = ""] = text.split("=");
    return { kind, name, ...(namespace && { namespace }) };
  };
  return {
    source,
    reads: () => reads,
    role: (namespace: string, name: string, ...rules: PolicyRule[]) => {
      version++;
      if (namespace)
        roles.set(`${namespace}/${name}`, { metadata: { name, namespace }, rules } as unknown as Role);
      else clusterRoles.set(name, { metadata: { name }, rules } as unknown as ClusterRole);
    },
    bind: (namespace: string, name: string, role: string, ...subjects: string[]) => {
      version++;
      const [kind = "", roleName = ""] = role.split("=");
      const binding = {
        metadata: { name, ...(namespace && { namespace }) },
        roleRef: { apiGroup: group, kind, name: roleName },
        subjects: subjects.map(subjectOf),
      };
      if (namespace) bindings.push(binding as unknown as RoleBinding);
      else clusterBindings.push(binding as unknown as ClusterRoleBinding);
    },
  };
}
export function world() {
  const w = sourceOf();
  w.role("", "view", rule(["get", "list"], ["pods"]));
  w.role("", "names", rule(["get"], ["secrets"], { resourceNames: ["one"] }));
  w.role("ns", "edit", rule(["update"], ["pods"]));
  w.bind("", "viewers", "ClusterRole=view", "Group=dev", "User=carol");
  w.bind("ns", "dangling", "Role=nowhere", "User=frank");
  w.bind("ns", "editors", "Role=edit", "User=alice", "ServiceAccount=robot", "ServiceAccount=far=other");
  w.bind("ns", "local-view", "ClusterRole=view", "User=bob");
  w.bind("ns", "named", "ClusterRole=names", "User=bob");
  w.bind("", "no-home", "ClusterRole=view", "ServiceAccount=robot");
  return w;
}
export const inNs = { namespace: "ns" };
