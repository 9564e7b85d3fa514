import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from "#api";
import { dialects } from "#dialect";
import { aggregatedRules } from "./aggregation.ts";
import { bootstrapPolicy, nodeRules } from "./bootstrap-policy.ts";
import { rbacAuthorizer } from "./rbac.ts";
import { type Reconciled, reconcile } from "./reconcile.ts";

const policy = bootstrapPolicy(dialects.kubernetes);
const ours = bootstrapPolicy(dialects.orch);
const named = <T extends { metadata: { name?: string | undefined } }>(list: readonly T[], name: string): T =>
  list.find(({ metadata }) => metadata.name === name)!;

test("a cluster starts with 62 cluster roles, 43 bindings, and 7 of each in namespaces", () => {
  for (const { clusterRoles, clusterRoleBindings, roles, roleBindings } of [policy, ours]) {
    assert.deepEqual(
      [clusterRoles.length, clusterRoleBindings.length, roles.length, roleBindings.length],
      [62, 43, 7, 7],
    );
  }
});
test("the rules match their digest", () => {
  // After an intended change of a rule, compare the whole policy with that of kube-apiserver before updating
  // the digest.
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  const lines = Object.values(policy).flatMap((list: readonly object[]) =>
    list.map((object) => JSON.stringify(object, sorted)),
  );
  assert.equal(
    createHash("sha256").update(lines.toSorted().join("\n")).digest("hex"),
    "5e55e74ac644252ec0630ef6313c2d4cdc702fc9cf4f6c87c37aca5ba71daefc",
  );
});
test("both dialects grant the same except for names", () => {
  const sorted = (_: string, value: unknown): unknown =>
    Array.isArray(value) && typeof value[0] === "string" ? (value as string[]).toSorted() : value;
  const translated = JSON.stringify(policy)
    .replaceAll("k8s.io", "orch.io")
    .replaceAll("kubernetes.io", "orch.io")
    .replaceAll("kubelet", "nodeagent")
    .replaceAll("kube-", "orch-");
  assert.deepEqual(JSON.parse(translated, sorted), JSON.parse(JSON.stringify(ours, sorted)));
});
test("roles carry the label and annotation by which they are kept up to date", () => {
  assert.deepEqual(named(ours.clusterRoles, "view"), {
    kind: "ClusterRole",
    apiVersion: "rbac.authorization.orch.io/v1",
    metadata: {
      name: "view",
      labels: {
        "orch.io/bootstrapping": "rbac-defaults",
        "rbac.authorization.orch.io/aggregate-to-edit": "true",
      },
      annotations: { "rbac.authorization.orch.io/autoupdate": "true" },
      creationTimestamp: null,
    },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.orch.io/aggregate-to-view": "true" } }],
    },
    rules: null,
  });
});
test("gates add and remove rules and roles", () => {
  const all = bootstrapPolicy(dialects.kubernetes, () => true);
  const bare = bootstrapPolicy(dialects.kubernetes, () => false);
  assert.deepEqual([all.clusterRoles.length, all.clusterRoleBindings.length], [66, 47]);
  assert.ok(named(all.clusterRoles, "system:cluster-trust-bundle-discovery"));
  assert.equal(named(bare.clusterRoles, "system:basic-user").rules?.length, 1);
  assert.ok(nodeRules(dialects.kubernetes, () => true).length > nodeRules(dialects.kubernetes).length);
});
test("anonymous users may only check the server's health", () => {
  const rbac = rbacAuthorizer({
    version: () => 1,
    clusterRole: (name) => named(ours.clusterRoles, name),
    role: () => undefined,
    clusterRoleBindings: () => ours.clusterRoleBindings,
    roleBindings: () => [],
  });
  const anonymous = { name: "system:anonymous", groups: ["system:unauthenticated"] };
  for (const [path, verdict] of [
    ["/healthz", "allow"],
    ["/version", "allow"],
    ["/healthz/etcd", "no opinion"],
    ["/api", "no opinion"],
    ["/metrics", "no opinion"],
    ["/openapi/v2", "no opinion"],
  ] as const) {
    assert.equal(rbac.decide({ user: anonymous, verb: "get", path }).verdict, verdict, path);
  }
  assert.equal(
    rbac.decide({ user: { name: "bob", groups: ["system:authenticated"] }, verb: "get", path: "/openapi/v2" })
      .verdict,
    "allow",
  );
});

const rule = (...verbs: string[]): PolicyRule => ({ verbs, apiGroups: [""], resources: ["pods"] });
const role = (
  rules: PolicyRule[] | null,
  more: Partial<ClusterRole> = {},
  metadata: Partial<ClusterRole["metadata"]> = {},
): ClusterRole =>
  ({ metadata: { name: "r", creationTimestamp: null, ...metadata }, rules, ...more }) as ClusterRole;
const gathers = (...keys: string[]): Partial<ClusterRole> => ({
  aggregationRule: { clusterRoleSelectors: keys.map((key) => ({ matchLabels: { [key]: "true" } })) },
});
const off = { annotations: { "rbac.authorization.orch.io/autoupdate": "false" } };
const roleCases: [
  name: string,
  existing: ClusterRole | undefined,
  expected: ClusterRole,
  result: Reconciled<ClusterRole>,
][] = [
  [
    "a missing role is created",
    undefined,
    role([rule("get")]),
    { action: "create", object: role([rule("get")]) },
  ],
  ["a complete role is unchanged", role([rule("*")]), role([rule("get")]), { action: "none" }],
  [
    "missing rules are added, others kept",
    role([rule("get")]),
    role([rule("get", "list")]),
    { action: "update", object: role([rule("get"), rule("list")]) },
  ],
  ["a role that opted out is skipped", role([], {}, off), role([rule("get")]), { action: "skip" }],
  [
    "a complete role that opted out is unchanged",
    role([rule("get")], {}, off),
    role([rule("get")]),
    { action: "none" },
  ],
  [
    "labels are added, changed ones kept",
    role([], {}, { labels: { a: "mine" } }),
    role([], {}, { labels: { a: "1", b: "2" } }),
    { action: "update", object: role([], {}, { labels: { a: "mine", b: "2" } }) },
  ],
  [
    "missing selectors are added",
    role([], gathers("x")),
    role([], gathers("x", "y")),
    { action: "update", object: role([], gathers("x", "y")) },
  ],
  [
    "unexpected aggregation is removed",
    role([rule("get")], gathers("x")),
    role([rule("get")]),
    { action: "update", object: role([rule("get")]) },
  ],
  [
    "aggregated rules are unchanged",
    role([rule("get")], gathers("x")),
    role(null, gathers("x")),
    { action: "none" },
  ],
];
for (const [name, existing, expected, result] of roleCases)
  test(`in reconciling, ${name}`, () =>
    assert.deepEqual(reconcile(existing, expected, dialects.orch), result));

const binding = (
  roleName: string,
  users: string[],
  metadata: Partial<ClusterRoleBinding["metadata"]> = {},
): ClusterRoleBinding =>
  ({
    metadata: { name: "b", creationTimestamp: null, ...metadata },
    roleRef: { apiGroup: "g", kind: "ClusterRole", name: roleName },
    ...(users.length && { subjects: users.map((name) => ({ kind: "User", name })) }),
  }) as ClusterRoleBinding;
const bindingCases: [
  name: string,
  existing: ClusterRoleBinding | undefined,
  expected: ClusterRoleBinding,
  result: Reconciled<ClusterRoleBinding>,
][] = [
  [
    "a missing binding is created",
    undefined,
    binding("r", ["a"]),
    { action: "create", object: binding("r", ["a"]) },
  ],
  [
    "missing subjects are added, others kept",
    binding("r", ["x"]),
    binding("r", ["a", "x"]),
    { action: "update", object: binding("r", ["x", "a"]) },
  ],
  ["an empty expectation removes no subjects", binding("r", ["x"]), binding("r", []), { action: "none" }],
  [
    "a binding to another role is recreated",
    binding("other", ["x"]),
    binding("r", ["a"]),
    { action: "recreate", object: binding("r", ["a"]) },
  ],
  [
    "a binding that opted out is skipped",
    binding("other", ["x"], off),
    binding("r", ["a"]),
    { action: "skip" },
  ],
];
for (const [name, existing, expected, result] of bindingCases)
  test(`in reconciling, ${name}`, () =>
    assert.deepEqual(reconcile(existing, expected, dialects.orch), result));

test("an aggregated role has the rules of its selectors without duplicates, in order of name", () => {
  const all = [
    role([rule("list")], {}, { name: "b", labels: { x: "true" } }),
    role([rule("get")], {}, { name: "a", labels: { x: "true" } }),
    role([rule("get"), rule("watch")], {}, { name: "c", labels: { y: "1" } }),
    role([rule("delete")], {}, { name: "d", labels: { z: "true" } }),
    role([rule("never")], {}, { name: "r", labels: { x: "true" } }),
  ];
  const expressions = [
    { key: "y", operator: "In", values: ["1", "2"] },
    { key: "z", operator: "DoesNotExist" },
  ];
  const target = role(null, {
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { x: "true" } }, { matchExpressions: expressions }],
    },
  });
  assert.deepEqual(aggregatedRules(target, all), [rule("get"), rule("list"), rule("watch")]);
  assert.equal(aggregatedRules(role([]), all), undefined);
});
test("the admin role includes everything edit and view grant", () => {
  const once = ours.clusterRoles.map((each) =>
    each.aggregationRule ? { ...each, rules: aggregatedRules(each, ours.clusterRoles) ?? [] } : each,
  );
  const twice = once.map((each) =>
    each.aggregationRule ? { ...each, rules: aggregatedRules(each, once) ?? [] } : each,
  );
  const admin = aggregatedRules(named(twice, "admin"), twice)!;
  const count = (name: string): number => named(ours.clusterRoles, name).rules?.length ?? 0;
  assert.equal(
    admin.length,
    count("system:aggregate-to-admin") +
      count("system:aggregate-to-edit") +
      count("system:aggregate-to-view"),
  );
});
