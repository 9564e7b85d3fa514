import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterRoleBinding, roleBinding } from "./role-binding.ts";
import { clusterRole, role } from "./role.ts";
import { cellsOf, tryCreate, tryUpdate } from "./try-out.fixture.ts";

const meta = { name: "a" };
const group = "rbac.authorization.orch.io";
const pods = { verbs: ["get"], resources: ["pods"], apiGroups: [""] };
const ref = { kind: "Role", name: "r" };

test("the role that a binding grants does not change", () => {
  assert.deepEqual(tryUpdate(roleBinding, { roleRef: ref }, { roleRef: { ...ref, name: "s" } }).causes, [
    "Invalid roleRef",
  ]);
});

const refused: [name: string, strategy: typeof role, sent: object, causes: string[]][] = [
  ["a role may be empty", role, {}, []],
  ["a rule needs verbs", role, { rules: [{ ...pods, verbs: [] }] }, ["Required rules[0].verbs"]],
  [
    "a rule needs groups",
    role,
    { rules: [{ ...pods, apiGroups: undefined }] },
    ["Required rules[0].apiGroups"],
  ],
  [
    "a rule needs resources",
    role,
    { rules: [pods, { ...pods, resources: [] }] },
    ["Required rules[1].resources"],
  ],
  [
    "a namespace has no paths",
    role,
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
    ["Invalid rules[0].nonResourceURLs"],
  ],
  ["the cluster has paths", clusterRole, { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] }, []],
  [
    "a rule cannot mix paths and resources",
    clusterRole,
    { rules: [{ ...pods, nonResourceURLs: ["/x"] }] },
    ["Invalid rules[0].nonResourceURLs"],
  ],
  [
    "aggregation needs a selector",
    clusterRole,
    { aggregationRule: {} },
    ["Required aggregationRule.clusterRoleSelectors"],
  ],
  [
    "aggregation needs usable selectors",
    clusterRole,
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }] } },
    [
      "Invalid aggregationRule.clusterRoleSelectors[0]",
      "Required aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values",
    ],
  ],
  [
    "kinds of roles and subjects are known",
    roleBinding,
    { roleRef: { kind: "Pod", name: "r" }, subjects: [{ kind: "Robot", name: "u" }] },
    ["NotSupported roleRef.kind", "NotSupported subjects[0].kind"],
  ],
  ["a binding needs a role", roleBinding, {}, ["NotSupported roleRef.kind", "Required roleRef.name"]],
  [
    "a cluster binding cannot grant a role of a namespace",
    clusterRoleBinding,
    { roleRef: ref },
    ["NotSupported roleRef.kind"],
  ],
  [
    "an account in a cluster binding says its namespace",
    clusterRoleBinding,
    { roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s" }] },
    ["Required subjects[0].namespace"],
  ],
  [
    "an account belongs to the core group",
    roleBinding,
    { roleRef: ref, subjects: [{ kind: "ServiceAccount", name: "s", apiGroup: group }] },
    ["NotSupported subjects[0].apiGroup"],
  ],
  [
    "a subject needs a name",
    roleBinding,
    { roleRef: ref, subjects: [{ kind: "User", name: "" }] },
    ["Required subjects[0].name"],
  ],
  [
    "a role of another group is unknown",
    roleBinding,
    { roleRef: { ...ref, apiGroup: "x" } },
    ["NotSupported roleRef.apiGroup"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata: meta, ...sent }).causes, causes));

test("groups of the role and of people are filled in", () => {
  const { object } = tryCreate(roleBinding, {
    metadata: meta,
    roleRef: ref,
    subjects: [
      { kind: "User", name: "u" },
      { kind: "ServiceAccount", name: "s" },
    ],
  });
  assert.deepEqual(object["roleRef"], { ...ref, apiGroup: group });
  assert.deepEqual(object["subjects"], [
    { kind: "User", name: "u", apiGroup: group },
    { kind: "ServiceAccount", name: "s" },
  ]);
});

test("the role of a binding never changes, its subjects may", () => {
  const before = { metadata: meta, roleRef: ref };
  assert.deepEqual(
    tryUpdate(roleBinding, before, { metadata: meta, roleRef: { ...ref, name: "e" } }).causes,
    ["Invalid roleRef"],
  );
  assert.deepEqual(
    tryUpdate(roleBinding, before, { ...before, subjects: [{ kind: "User", name: "u" }] }).causes,
    [],
  );
});

test("a table shows whom a binding is for", () => {
  const subjects = [
    { kind: "User", name: "u" },
    { kind: "User", name: "v" },
    { kind: "ServiceAccount", name: "s", namespace: "n" },
  ];
  assert.deepEqual(cellsOf(roleBinding, { metadata: meta, roleRef: ref, subjects }), [
    "a",
    "Role/r",
    "<unknown>",
    "u, v",
    "",
    "n/s",
  ]);
});
