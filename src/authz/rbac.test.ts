import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject } from "#api";
import type { User } from "#authn";
import type { ApiError } from "#base";
import {
  type Attributes,
  type Authorizer,
  type ResourceTarget,
  alwaysAllow,
  alwaysAllowPaths,
  alwaysDeny,
  authorizerOf,
  describe,
  forbiddenError,
} from "./authorizer.ts";
import { checkBinding, checkRole, onlyOwnershipChanged } from "./escalation.ts";
import { type RbacSource, rbacAuthorizer } from "./rbac.ts";
import { compact, describeRule, ruleAllows, uncovered } from "./rules.ts";

const group = "rbac.authorization.example.com";
const user = (name: string, ...groups: string[]): User => ({ name, groups });
const on = (resource: string, more: Partial<ResourceTarget> = {}): ResourceTarget => {
  const [name = "", subresource = ""] = resource.split("/");
  return { group: "", version: "v1", resource: name, subresource, namespace: "", name: "", ...more };
};
const asks = (verb: string, what: ResourceTarget | string, who: User = user("bob")): Attributes =>
  typeof what === "string" ? { user: who, verb, path: what } : { user: who, verb, resource: what };
const rule = (verbs: string[], resources: string[], more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources,
  ...more,
});

const matches: [name: string, rule: PolicyRule, asked: Attributes, allowed: boolean][] = [
  ["the verb and resource", rule(["get"], ["pods"]), asks("get", on("pods")), true],
  ["another verb", rule(["get"], ["pods"]), asks("list", on("pods")), false],
  ["any verb", rule(["*"], ["pods"]), asks("list", on("pods")), true],
  ["another group", rule(["get"], ["pods"]), asks("get", on("pods", { group: "apps" })), false],
  [
    "any group",
    rule(["get"], ["pods"], { apiGroups: ["*"] }),
    asks("get", on("pods", { group: "apps" })),
    true,
  ],
  ["a subresource that is not named", rule(["get"], ["pods"]), asks("get", on("pods/log")), false],
  ["a subresource that is named", rule(["get"], ["pods/log"]), asks("get", on("pods/log")), true],
  ["a subresource of anything", rule(["get"], ["*/scale"]), asks("get", on("deployments/scale")), true],
  ["no subresource for one of anything", rule(["get"], ["*/scale"]), asks("get", on("deployments")), false],
  ["all resources and subresources", rule(["get"], ["*"]), asks("get", on("deployments/scale")), true],
  [
    "a named object",
    rule(["get"], ["pods"], { resourceNames: ["a"] }),
    asks("get", on("pods", { name: "a" })),
    true,
  ],
  [
    "an object of another name",
    rule(["get"], ["pods"], { resourceNames: ["a"] }),
    asks("get", on("pods", { name: "b" })),
    false,
  ],
  [
    "a list when names are given",
    rule(["list"], ["pods"], { resourceNames: ["a"] }),
    asks("list", on("pods")),
    false,
  ],
  ["a path", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, asks("get", "/healthz"), true],
  ["a path below", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, asks("get", "/healthz/etcd"), false],
  [
    "a path by prefix",
    { verbs: ["get"], nonResourceURLs: ["/healthz/*"] },
    asks("get", "/healthz/etcd"),
    true,
  ],
  ["any path", { verbs: ["get"], nonResourceURLs: ["*"] }, asks("get", "/x"), true],
  ["a path for a resource rule", rule(["*"], ["*"], { apiGroups: ["*"] }), asks("get", "/x"), false],
  ["a resource for a path rule", { verbs: ["*"], nonResourceURLs: ["*"] }, asks("get", on("pods")), false],
];
for (const [name, given, asked, allowed] of matches)
  test(`a rule ${allowed ? "allows" : "does not allow"} ${name}`, () =>
    assert.equal(ruleAllows(given, asked), allowed));

const coverage: [name: string, wanted: PolicyRule[], owned: PolicyRule[], missing: PolicyRule[]][] = [
  ["the same is covered", [rule(["get"], ["pods"])], [rule(["get"], ["pods"])], []],
  [
    "pieces add up",
    [rule(["get", "list"], ["pods", "secrets"])],
    [rule(["get", "list"], ["pods"]), rule(["get"], ["secrets"]), rule(["list"], ["secrets"])],
    [],
  ],
  [
    "what is missing is told in pieces",
    [rule(["get", "list"], ["pods"])],
    [rule(["get"], ["pods"])],
    [rule(["list"], ["pods"])],
  ],
  [
    "a wildcard needs a wildcard",
    [rule(["*"], ["pods"])],
    [rule(["get"], ["pods"])],
    [rule(["*"], ["pods"])],
  ],
  [
    "a wildcard covers all",
    [rule(["x"], ["y/z"], { resourceNames: ["n"] })],
    [rule(["*"], ["*"], { apiGroups: ["*"] })],
    [],
  ],
  [
    "all names need all names",
    [rule(["get"], ["pods"])],
    [rule(["get"], ["pods"], { resourceNames: ["a"] })],
    [rule(["get"], ["pods"])],
  ],
  ["all names cover one", [rule(["get"], ["pods"], { resourceNames: ["a"] })], [rule(["get"], ["pods"])], []],
  ["a subresource of anything covers one", [rule(["get"], ["pods/scale"])], [rule(["get"], ["*/scale"])], []],
  [
    "paths by prefix are covered",
    [{ verbs: ["get"], nonResourceURLs: ["/a/b", "/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [],
  ],
  [
    "a path beside the prefix is not",
    [{ verbs: ["get"], nonResourceURLs: ["/b"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/b"] }],
  ],
];
for (const [name, wanted, owned, missing] of coverage)
  test(`of rules, ${name}`, () => assert.deepEqual(uncovered(wanted, owned), missing));
test("missing rules are joined by verb and described", () => {
  const parts = uncovered([rule(["get", "list"], ["pods"], { resourceNames: ["a"] })], []);
  assert.deepEqual(compact(parts).map(describeRule), [
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
  ]);
});

/**
 * Roles and bindings written as lines: `role ns/name`, `binding ns/name role subjects…`; no namespace is
 * cluster-wide.
 */
function sourceOf() {
  const clusterRoles = new Map<string, ClusterRole>();
  const roles = new Map<string, Role>();
  const clusterBindings: ClusterRoleBinding[] = [];
  const bindings: RoleBinding[] = [];
  let version = 0;
  let asked = 0;
  const source: RbacSource = {
    version: () => version,
    clusterRole: (name) => clusterRoles.get(name),
    role: (namespace, name) => roles.get(`${namespace}/${name}`),
    clusterRoleBindings: () => (asked++, clusterBindings),
    roleBindings: (namespace) => (
      asked++,
      bindings.filter(({ metadata }) => metadata.namespace === namespace)
    ),
  };
  const subjectOf = (text: string): Subject => {
    const [kind = "", name = "", namespace = ""] = text.split("=");
    return { kind, name, ...(namespace && { namespace }) };
  };
  return {
    source,
    asked: () => asked,
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
function world() {
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
const inNs = { namespace: "ns" };
const decisions: [name: string, asked: Attributes, reason: string | undefined][] = [
  [
    "a group's member everywhere",
    asks("list", on("pods"), user("alice", "dev")),
    'ClusterRoleBinding "viewers" of ClusterRole "view" to Group "dev"',
  ],
  [
    "the first subject that fits is named",
    asks("list", on("pods"), user("carol", "dev")),
    'ClusterRoleBinding "viewers" of ClusterRole "view" to Group "dev"',
  ],
  [
    "a cluster-wide grant in a namespace",
    asks("get", on("pods", inNs), user("carol")),
    'ClusterRoleBinding "viewers" of ClusterRole "view" to User "carol"',
  ],
  [
    "a role in its namespace",
    asks("update", on("pods", inNs), user("alice")),
    'RoleBinding "editors/ns" of Role "edit" to User "alice"',
  ],
  ["a role elsewhere", asks("update", on("pods", { namespace: "other" }), user("alice")), undefined],
  [
    "a cluster role bound in a namespace",
    asks("list", on("pods", inNs), user("bob")),
    'RoleBinding "local-view/ns" of ClusterRole "view" to User "bob"',
  ],
  ["a cluster role bound in a namespace, cluster-wide", asks("list", on("pods"), user("bob")), undefined],
  [
    "an account of the binding's namespace",
    asks("update", on("pods", inNs), user("system:serviceaccount:ns:robot")),
    'RoleBinding "editors/ns" of Role "edit" to ServiceAccount "robot/ns"',
  ],
  [
    "an account of another namespace",
    asks("update", on("pods", inNs), user("system:serviceaccount:other:far")),
    'RoleBinding "editors/ns" of Role "edit" to ServiceAccount "far/other"',
  ],
  [
    "an account without a namespace, cluster-wide",
    asks("list", on("pods"), user("system:serviceaccount:ns:robot")),
    undefined,
  ],
  [
    "a named object",
    asks("get", on("secrets", { ...inNs, name: "one" }), user("bob")),
    'RoleBinding "named/ns" of ClusterRole "names" to User "bob"',
  ],
  ["an object of another name", asks("get", on("secrets", { ...inNs, name: "two" }), user("bob")), undefined],
  ["someone unknown", asks("list", on("pods", inNs), user("zed")), undefined],
];
for (const [name, asked, reason] of decisions) {
  test(`RBAC ${reason ? "allows" : "has no opinion on"} ${name}, twice`, () => {
    const rbac = rbacAuthorizer(world().source);
    for (let time = 0; time < 2; time++) {
      const decision = rbac.decide(asked);
      assert.deepEqual(
        decision,
        reason
          ? { verdict: "allow", reason: `RBAC: allowed by ${reason}` }
          : { verdict: "no opinion", reason: "" },
      );
    }
  });
}
test("a dangling binding is told as the reason", () => {
  assert.equal(
    rbacAuthorizer(world().source).decide(asks("get", on("pods", inNs), user("frank"))).reason,
    'RBAC: role "nowhere" not found',
  );
});
test("remembered decisions do not mix names, namespaces and questions that look alike", () => {
  const rbac = rbacAuthorizer(world().source);
  const bob = user("bob");
  assert.equal(rbac.decide(asks("get", on("secrets", { ...inNs, name: "one" }), bob)).verdict, "allow");
  assert.equal(rbac.decide(asks("get", on("secrets", { ...inNs, name: "two" }), bob)).verdict, "no opinion");
  assert.equal(
    rbac.decide(asks("get", on("secrets", { namespace: "nson", name: "e" }), bob)).verdict,
    "no opinion",
  );
  assert.equal(rbac.decide(asks("list", on("pods", inNs), bob)).verdict, "allow");
  assert.equal(rbac.decide(asks("list", on("pod", { namespace: "sns" }), bob)).verdict, "no opinion");
});
test("any change of a role or binding is seen by the next decision", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const zed = user("zed", "new");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "no opinion");
  w.bind("", "late", "ClusterRole=view", "Group=new");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "allow");
  w.role("", "view");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "no opinion");
});
test("nothing is read again while nothing changes", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const ask = (): unknown => rbac.decide(asks("list", on("pods", inNs), user("bob", "dev")));
  ask();
  const before = w.asked();
  ask();
  assert.equal(w.asked(), before);
});
test("questions longer than any real one are answered, and not remembered: anybody may ask them", () => {
  const w = world();
  w.role("", "all", rule(["*"], ["*"]), { verbs: ["*"], nonResourceURLs: ["*"] });
  w.bind("", "everything", "ClusterRole=all", "User=root");
  const rbac = rbacAuthorizer(w.source);
  const root = user("root");
  const isRemembered = (question: Attributes): boolean => rbac.decide(question) === rbac.decide(question);
  for (const [length, remembered] of [
    [200, true],
    [10_000, false],
  ] as const) {
    const text = "x".repeat(length);
    const questions = [
      asks("get", `/${text}`, root),
      asks("get", on("pods", { namespace: text }), root),
      asks("get", on(text, inNs), root),
      asks(text, on("pods"), root),
    ];
    assert.deepEqual(questions.map(isRemembered), Array(4).fill(remembered));
  }
});
test("bindings of a namespace that can have no name are not remembered, either", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const ask = (namespace: string): number => {
    const before = w.asked();
    rbac.decide(asks("get", on("pods", { namespace })));
    return w.asked() - before;
  };
  const long = "x".repeat(10_000);
  assert.ok(ask(long) > 0 && ask(long) > 0);
  assert.ok(ask("short") > 0 && ask("short") === 0);
});
test("the rules of a user are listed, cluster-wide ones first", () => {
  const w = world();
  w.role("", "paths", { verbs: ["get"], nonResourceURLs: ["/healthz"] });
  w.bind("", "z-paths", "ClusterRole=paths", "User=bob");
  assert.deepEqual(rbacAuthorizer(w.source).rulesFor(user("bob"), "ns"), {
    resourceRules: [rule(["get", "list"], ["pods"]), rule(["get"], ["secrets"], { resourceNames: ["one"] })],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
    incomplete: false,
  });
  assert.equal(rbacAuthorizer(w.source).rulesFor(user("frank"), "ns").error, 'role "nowhere" not found');
});

const later = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  decide: async (attributes) => authorizer.decide(attributes),
});
const denies: Authorizer = { ...alwaysDeny, decide: () => ({ verdict: "deny", reason: "no" }) };
const unions: [name: string, modes: Authorizer[], who: User, verdict: string, reason: string][] = [
  ["the privileged group is allowed before all", [denies], user("root", "system:masters"), "allow", ""],
  ["nobody else is, in AlwaysDeny", [alwaysDeny], user("bob"), "no opinion", "Everything is forbidden."],
  ["the first opinion wins", [alwaysDeny, denies, alwaysAllow], user("bob"), "deny", "no"],
  ["silence goes on to the next", [alwaysDeny, alwaysAllow], user("bob"), "allow", ""],
  [
    "late answers keep the order",
    [alwaysDeny, later(alwaysDeny), later(denies), alwaysAllow],
    user("bob"),
    "deny",
    "no",
  ],
  [
    "reasons of the silent are joined",
    [alwaysDeny, later(alwaysDeny)],
    user("bob"),
    "no opinion",
    "Everything is forbidden.\nEverything is forbidden.",
  ],
  ["without modes nothing is allowed", [], user("bob"), "no opinion", ""],
];
for (const [name, modes, who, verdict, reason] of unions) {
  test(`among authorizers, ${name}`, async () =>
    assert.deepEqual(await authorizerOf(modes).decide(asks("get", on("pods"), who)), { verdict, reason }));
}
test("open paths are open, resources behind them are not", async () => {
  const open = authorizerOf([alwaysAllowPaths(["/healthz", "livez/*"])]);
  for (const [path, verdict] of [
    ["/healthz", "allow"],
    ["/livez/x", "allow"],
    ["/readyz", "no opinion"],
  ] as const) {
    assert.equal((await open.decide(asks("get", path))).verdict, verdict);
  }
  assert.equal((await open.decide(asks("get", on("healthz")))).verdict, "no opinion");
  assert.throws(() => alwaysAllowPaths(["/a*b"]), /only trailing \*/);
});
test("what is forbidden is told in a sentence", () => {
  assert.equal(describe(asks("get", "/metrics")), 'User "bob" cannot get path "/metrics"');
  assert.equal(
    describe(asks("list", on("pods/log", { ...inNs, group: "x" }))),
    'User "bob" cannot list resource "pods/log" in API group "x" in the namespace "ns"',
  );
  const error = forbiddenError(asks("list", on("pods")), "because");
  assert.deepEqual(
    [error.code, error.message],
    [
      403,
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope: because',
    ],
  );
  assert.deepEqual(
    forbiddenError(asks("get", "/<x>"), "").message,
    'forbidden: User "bob" cannot get path "/&lt;x&gt;"',
  );
});

const managing = on("roles", { group, ...inNs });
const asRole = (name: string, ...rules: PolicyRule[]): Role =>
  ({ metadata: { name }, rules }) as unknown as Role;
function manager(extra?: PolicyRule) {
  const w = world();
  if (extra) {
    w.role("ns", "extra", extra);
    w.bind("ns", "extra", "Role=extra", "User=bob");
  }
  const rbac = rbacAuthorizer(w.source);
  return { rbac, authorizer: authorizerOf([rbac]) };
}
const forbiddenWith = (text: RegExp) => (error: ApiError) => error.code === 403 && text.test(error.message);
test("a role may grant what its author holds", async () =>
  checkRole(manager(), user("bob"), managing, asRole("r", rule(["get"], ["pods"]))));
test("a role may not grant more, and the missing rules are told", async () => {
  await assert.rejects(
    checkRole(manager(), user("bob", "g"), managing, asRole("r", rule(["get", "delete"], ["pods"]))),
    forbiddenWith(
      /^roles.rbac.authorization.example.com "r" is forbidden: user "bob" \(groups=\["g"\]\) is attempting .*:\n{APIGroups:\[""\], Resources:\["pods"\], Verbs:\["delete"\]}$/,
    ),
  );
});
test("rules that combine to more than can be compared are refused, unless one rule of the author covers them", async () => {
  const words = Array.from({ length: 300 }, (_, at) => `w${at}`);
  const vast = rule(words, words, { resourceNames: words });
  await assert.rejects(
    checkRole(manager(), user("bob"), managing, asRole("r", vast)),
    forbiddenWith(/combine to 27000000 permissions, and no more than 50000/),
  );
  await checkRole(manager(rule(["*"], ["*"])), user("bob"), managing, asRole("r", vast));
});

test("who may escalate may grant anything, and so may the privileged", async () => {
  const escalate: PolicyRule = { verbs: ["escalate"], apiGroups: [group], resources: ["roles"] };
  await checkRole(manager(escalate), user("bob"), managing, asRole("r", rule(["*"], ["*"])));
  await checkRole(manager(), user("root", "system:masters"), managing, asRole("r", rule(["*"], ["*"])));
});
test("aggregation is for those who hold everything, also to remove it", async () => {
  const target = on("clusterroles", { group });
  const aggregating = {
    ...asRole("r"),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
  } as unknown as ClusterRole;
  await assert.rejects(
    checkRole(manager(), user("bob"), target, aggregating),
    forbiddenWith(/cluster-admin privileges/),
  );
  await assert.rejects(
    checkRole(manager(), user("bob"), target, asRole("r"), aggregating),
    forbiddenWith(/cluster-admin privileges/),
  );
});
const bindTarget = on("rolebindings", { group, ...inNs });
const binds = (kind: string, name: string) => ({
  metadata: { name: "b" },
  roleRef: { apiGroup: group, kind, name },
});
test("a role that its binder holds may be bound", async () =>
  checkBinding(manager(), user("bob"), bindTarget, binds("ClusterRole", "view")));
test("a role beyond what its binder holds may not be bound", async () => {
  await assert.rejects(
    checkBinding(manager(), user("bob"), bindTarget, binds("Role", "edit")),
    forbiddenWith(/^rolebindings.*"b" is forbidden: user "bob"/),
  );
});
test("a missing role cannot be bound", async () => {
  await assert.rejects(
    checkBinding(manager(), user("bob"), bindTarget, binds("Role", "none")),
    (error: ApiError) => error.code === 404 && error.details?.kind === "roles",
  );
});
test("a role that cannot be cannot be bound", async () => {
  const refused = (name: string, target: ResourceTarget, message: RegExp) =>
    assert.rejects(
      checkBinding(manager(), user("bob"), target, binds("Role", name)),
      (error: ApiError) => error.code === 400 && message.test(error.message),
    );
  await refused("", bindTarget, /Name parameter required/);
  await refused("edit", on("clusterrolebindings", { group }), /Namespace parameter required/);
});
test("who may bind a role may bind it without holding it", async () => {
  const bind: PolicyRule = {
    verbs: ["bind"],
    apiGroups: [group],
    resources: ["roles"],
    resourceNames: ["edit"],
  };
  await checkBinding(manager(bind), user("bob"), bindTarget, binds("Role", "edit"));
  await assert.rejects(
    checkBinding(manager(bind), user("bob"), bindTarget, binds("Role", "none")),
    (error: ApiError) => error.code === 404,
  );
});
test("a change of owners or finalizers alone is recognised", () => {
  const old = { metadata: { name: "r", finalizers: ["a"] }, rules: [] };
  assert.equal(
    onlyOwnershipChanged(
      { metadata: { name: "r", ownerReferences: [] }, rules: [] } as { metadata: object },
      old,
    ),
    true,
  );
  assert.equal(
    onlyOwnershipChanged({ metadata: { name: "r" }, rules: [1] } as { metadata: object }, old),
    false,
  );
});
