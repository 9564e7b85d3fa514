import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterRoleBinding, roleBinding } from "./role-binding.ts";
import { clusterRole, role } from "./role.ts";
import { cellsOf, tryCreate, tryUpdate } from "./strategy.fixture.ts";

const meta = { name: "a" };
const group = "rbac.authorization.orch.io";
const pods = { verbs: ["get"], resources: ["pods"], apiGroups: [""] };
const ref = { kind: "Role", name: "r" };

test("the role reference of a binding is immutable", () => {
  assert.deepEqual(tryUpdate(roleBinding, { roleRef: ref }, { roleRef: { ...ref, name: "s" } }).causes, [
    "Invalid roleRef",
  ]);
});

const refused: [name: string, strategy: typeof role, sent: object, causes: string[]][] = [
  ["an empty role is valid", role, {}, []],
  ["a rule requires verbs", role, { rules: [{ ...pods, verbs: [] }] }, ["Required rules[0].verbs"]],
  [
    "a rule requires API groups",
    role,
    { rules: [{ ...pods, apiGroups: undefined }] },
    ["Required rules[0].apiGroups"],
  ],
  [
    "a rule requires resources",
    role,
    { rules: [pods, { ...pods, resources: [] }] },
    ["Required rules[1].resources"],
  ],
  [
    "a namespaced role has no non-resource URLs",
    role,
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
    ["Invalid rules[0].nonResourceURLs"],
  ],
  [
    "a cluster role may have non-resource URLs",
    clusterRole,
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
    [],
  ],
  [
    "a rule has either resources or non-resource URLs",
    clusterRole,
    { rules: [{ ...pods, nonResourceURLs: ["/x"] }] },
    ["Invalid rules[0].nonResourceURLs"],
  ],
  [
    "aggregation requires a selector",
    clusterRole,
    { aggregationRule: {} },
    ["Required aggregationRule.clusterRoleSelectors"],
  ],
  [
    "aggregation requires valid selectors",
    clusterRole,
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }] } },
    [
      "Invalid aggregationRule.clusterRoleSelectors[0]",
      "Required aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values",
    ],
  ],
  [
    "unknown kinds of roles and subjects are refused",
    roleBinding,
    { roleRef: { kind: "Pod", name: "r" }, subjects: [{ kind: "Robot", name: "u" }] },
    ["NotSupported roleRef.kind", "NotSupported subjects[0].kind"],
  ],
  ["a binding requires a role", roleBinding, {}, ["NotSupported roleRef.kind", "Required roleRef.name"]],
  [
    "a cluster role binding must not refer to a role",
    clusterRoleBinding,
    { roleRef: ref },
    ["NotSupported roleRef.kind"],
  ],
  [
    "a service account in a cluster role binding requires a namespace",
    clusterRoleBinding,
    { roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s" }] },
    ["Required subjects[0].namespace"],
  ],
  [
    "a service account belongs to the core group",
    roleBinding,
    { roleRef: ref, subjects: [{ kind: "ServiceAccount", name: "s", apiGroup: group }] },
    ["NotSupported subjects[0].apiGroup"],
  ],
  [
    "a subject requires a name",
    roleBinding,
    { roleRef: ref, subjects: [{ kind: "User", name: "" }] },
    ["Required subjects[0].name"],
  ],
  [
    "a role of another group is refused",
    roleBinding,
    { roleRef: { ...ref, apiGroup: "x" } },
    ["NotSupported roleRef.apiGroup"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata: meta, ...sent }).causes, causes));

test("the groups of the role and of users are defaulted", () => {
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

test("the role of a binding is immutable, its subjects are not", () => {
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

test("the table row shows the subjects of a binding", () => {
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
