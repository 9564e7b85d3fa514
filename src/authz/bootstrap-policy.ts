// The roles and bindings every cluster starts with.

import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from "#api";
import {
  authenticatedGroup,
  mastersGroup,
  monitoringGroup,
  serviceAccountsGroup,
  unauthenticatedGroup,
} from "#authn";
import { type Dialect, apiVersionOf, componentName, groupName } from "#dialect";
import { controllerRoleLines } from "./bootstrap-controllers.ts";
import { type RoleLines, clusterRoleLines, nodeLines } from "./bootstrap-roles.ts";
import { type GateCheck, policyRules, recordEvents } from "./policy-text.ts";

export interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly Role[];
  readonly roleBindings: readonly RoleBinding[];
}

const onByDefault = new Set(["APISelfSubjectReview", "PodDisruptionConditions", "StatefulSetAutoDeletePVC"]);
const controllerPrefix = "system:controller:";

/** Returns the whole policy; `gates` reports which feature gates are enabled. */
export function bootstrapPolicy(
  dialect: Dialect,
  gates: GateCheck = (gate) => onByDefault.has(gate),
): BootstrapPolicy {
  const { labels, annotations, roles, users } = dialect.names;
  const { systemNamespace, publicNamespace } = dialect.data;
  const rbac = { group: "rbac.authorization", branded: true, version: "v1" };
  const apiVersion = apiVersionOf(dialect, rbac);
  const apiGroup = groupName(dialect, rbac);
  const metadata = (name: string, more: { namespace?: string; labels?: Record<string, string> } = {}) => ({
    name,
    ...(more.namespace && { namespace: more.namespace }),
    labels: { [labels.bootstrapping]: "rbac-defaults", ...more.labels },
    annotations: { [annotations.rbacAutoUpdate]: "true" },
    creationTimestamp: null,
  });
  const user = (name: string): Subject => ({ kind: "User", apiGroup, name });
  const group = (name: string): Subject => ({ kind: "Group", apiGroup, name });
  const account = (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: systemNamespace });
  const ref = (kind: string, name: string): RoleRef => ({ apiGroup, kind, name });

  const clusterRole = (
    name: string,
    rules: PolicyRule[] | null,
    more: { labels?: Record<string, string>; gathers?: string } = {},
  ): ClusterRole => ({
    kind: "ClusterRole",
    apiVersion,
    metadata: metadata(name, more),
    ...(more.gathers && {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [more.gathers]: "true" } }] },
    }),
    rules,
  });
  const clusterRoles = (lines: RoleLines, prefix: string): ClusterRole[] =>
    enabled(lines, gates).map(([name, rules]) => {
      const gathered = {
        "system:aggregate-to-admin": labels.aggregateToAdmin,
        "system:aggregate-to-edit": labels.aggregateToEdit,
        "system:aggregate-to-view": labels.aggregateToView,
      }[name];
      return clusterRole(
        prefix + name,
        policyRules(dialect, gates, rules),
        gathered ? { labels: { [gathered]: "true" } } : {},
      );
    });
  const bindCluster = (name: string, ...subjects: Subject[]): ClusterRoleBinding => ({
    kind: "ClusterRoleBinding",
    apiVersion,
    metadata: metadata(name),
    roleRef: ref("ClusterRole", name),
    ...(subjects.length && { subjects }),
  });
  const role = (namespace: string, name: string, ...lines: string[]): Role => ({
    kind: "Role",
    apiVersion,
    metadata: metadata(name, { namespace }),
    rules: policyRules(dialect, gates, lines),
  });
  const bind = (namespace: string, name: string, subjects: Subject[], roleName = name): RoleBinding => ({
    kind: "RoleBinding",
    apiVersion,
    metadata: metadata(name, { namespace }),
    roleRef: ref("Role", roleName),
    subjects,
  });

  const controllers = controllerRoleLines(dialect);
  const [manager, scheduler] = [
    componentName(dialect, "controller-manager"),
    componentName(dialect, "scheduler"),
  ];
  const reader = "extension-apiserver-authentication-reader";
  const locks = (component: string): string => `system::leader-locking-${component}`;
  return {
    clusterRoles: [
      clusterRole("admin", null, { gathers: labels.aggregateToAdmin }),
      clusterRole("edit", null, {
        gathers: labels.aggregateToEdit,
        labels: { [labels.aggregateToAdmin]: "true" },
      }),
      clusterRole("view", null, {
        gathers: labels.aggregateToView,
        labels: { [labels.aggregateToEdit]: "true" },
      }),
      ...clusterRoles(clusterRoleLines(dialect), ""),
      ...clusterRoles(controllers, controllerPrefix),
    ],
    clusterRoleBindings: [
      bindCluster("cluster-admin", group(mastersGroup)),
      bindCluster("system:monitoring", group(monitoringGroup)),
      bindCluster("system:discovery", group(authenticatedGroup)),
      bindCluster("system:basic-user", group(authenticatedGroup)),
      bindCluster("system:public-info-viewer", group(authenticatedGroup), group(unauthenticatedGroup)),
      bindCluster("system:node-proxier", user(users.proxy)),
      bindCluster(roles.controllerManager, user(users.controllerManager)),
      bindCluster(roles.dns, account(componentName(dialect, "dns"))),
      bindCluster(roles.scheduler, user(users.scheduler)),
      bindCluster("system:volume-scheduler", user(users.scheduler)),
      // Agents get their permissions from the Node authorizer: the binding exists, but without subjects.
      bindCluster("system:node"),
      bindCluster("system:service-account-issuer-discovery", group(serviceAccountsGroup)),
      ...(gates("ClusterTrustBundle")
        ? [bindCluster("system:cluster-trust-bundle-discovery", group(serviceAccountsGroup))]
        : []),
      ...enabled(controllers, gates).map(([name]) => bindCluster(controllerPrefix + name, account(name))),
    ],
    roles: [
      role(systemNamespace, reader, "read core configmaps =extension-apiserver-authentication"),
      role(systemNamespace, `${controllerPrefix}bootstrap-signer`, "read core secrets"),
      role(systemNamespace, `${controllerPrefix}cloud-provider`, "create,get,list,watch core configmaps"),
      role(
        systemNamespace,
        `${controllerPrefix}token-cleaner`,
        "get,list,watch,delete core secrets",
        recordEvents,
      ),
      role(
        systemNamespace,
        locks(manager),
        "watch core configmaps",
        `get,update core configmaps =${manager}`,
      ),
      role(
        systemNamespace,
        locks(scheduler),
        "watch core configmaps",
        `get,update core configmaps =${scheduler}`,
      ),
      role(
        publicNamespace,
        `${controllerPrefix}bootstrap-signer`,
        "read core configmaps",
        "update core configmaps =cluster-info",
        recordEvents,
      ),
    ],
    roleBindings: [
      bind(
        systemNamespace,
        `system::${reader}`,
        [user(users.controllerManager), user(users.scheduler)],
        reader,
      ),
      bind(systemNamespace, locks(manager), [user(users.controllerManager), account(manager)]),
      bind(systemNamespace, locks(scheduler), [user(users.scheduler), account(scheduler)]),
      ...["bootstrap-signer", "cloud-provider", "token-cleaner"].map((name) =>
        bind(systemNamespace, controllerPrefix + name, [account(name)]),
      ),
      bind(publicNamespace, `${controllerPrefix}bootstrap-signer`, [account("bootstrap-signer")]),
    ],
  };
}

/** Returns the rules of an agent, on which the Node authorizer is based. */
export const nodeRules = (
  dialect: Dialect,
  gates: GateCheck = (gate) => onByDefault.has(gate),
): PolicyRule[] => policyRules(dialect, gates, nodeLines);

const gatesKnown = new WeakMap<Dialect, ReadonlySet<string>>();

/** Returns the feature gates that roles and rules depend on. */
export const policyGates = (dialect: Dialect): ReadonlySet<string> =>
  gatesKnown.getOrInsertComputed(dialect, usedGates);

function usedGates(dialect: Dialect): ReadonlySet<string> {
  const used = new Set<string>();
  const record: GateCheck = (gate) => used.add(gate).has(gate);
  bootstrapPolicy(dialect, record);
  nodeRules(dialect, record);
  return used;
}

/** Returns the roles whose gate is enabled, with the gate removed from the name (`Gate? name`). */
function enabled(lines: RoleLines, gates: GateCheck): [name: string, rules: readonly string[]][] {
  return Object.entries(lines).flatMap(([key, rules]): [string, readonly string[]][] => {
    const [gate, name] = key.split("? ");
    if (name === undefined) return [[key, rules]];
    return gates(gate!) ? [[name, rules]] : [];
  });
}
