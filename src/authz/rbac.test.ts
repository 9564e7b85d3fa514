import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes } from "./authorizer.ts";
import { asks, inNs, on, rule, sourceOf, user, world } from "./rbac.fixture.ts";
import { rbacAuthorizer } from "./rbac.ts";

const decisions: [name: string, action: Attributes, reason: string | undefined][] = [
  [
    "a group member cluster-wide",
    asks("list", on("pods"), user("alice", "dev")),
    'ClusterRoleBinding "viewers" of ClusterRole "view" to Group "dev"',
  ],
  [
    "the first matching subject is reported",
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
  [
    "a role in another namespace",
    asks("update", on("pods", { namespace: "other" }), user("alice")),
    undefined,
  ],
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
  [
    "an object with another name",
    asks("get", on("secrets", { ...inNs, name: "two" }), user("bob")),
    undefined,
  ],
  ["an unknown user", asks("list", on("pods", inNs), user("zed")), undefined],
];
for (const [name, action, reason] of decisions) {
  test(`RBAC ${reason ? "allows" : "has no opinion on"} ${name}, twice`, () => {
    const rbac = rbacAuthorizer(world().source);
    for (let time = 0; time < 2; time++) {
      const decision = rbac.decide(action);
      assert.deepEqual(
        decision,
        reason
          ? { verdict: "allow", reason: `RBAC: allowed by ${reason}` }
          : { verdict: "no opinion", reason: "" },
      );
    }
  });
}
test("missing roles of bindings are reported once each", () => {
  const w = world();
  const reason = (): string =>
    rbacAuthorizer(w.source).decide(asks("get", on("pods", inNs), user("frank"))).reason;
  const nowhere = 'role.rbac.authorization.example.com "nowhere" not found';
  assert.equal(reason(), `RBAC: ${nowhere}`);
  w.bind("ns", "again", "Role=nowhere", "User=frank");
  assert.equal(reason(), `RBAC: ${nowhere}`);
  w.bind("ns", "other", "ClusterRole=nothing", "User=frank");
  assert.equal(
    reason(),
    `RBAC: [${nowhere}, clusterrole.rbac.authorization.example.com "nothing" not found]`,
  );
});
test("cached decisions keep similar names, namespaces and actions apart", () => {
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
test("users with similar names and groups are kept apart", () => {
  const w = sourceOf();
  w.role("", "all", rule(["*"], ["*"]));
  w.bind("", "admins", "ClusterRole=all", "Group=admins");
  const rbac = rbacAuthorizer(w.source);
  const verdict = (name: string, ...groups: string[]): string =>
    rbac.decide(asks("get", on("pods"), user(name, ...groups))).verdict;
  assert.equal(verdict("jane", "admins"), "allow");
  for (const [name, ...groups] of [
    ["jane\nadmins"],
    ['jane","admins'],
    ["jane", "x\nadmins"],
    ["jane admins"],
  ])
    assert.equal(verdict(name!, ...groups), "no opinion", JSON.stringify([name, groups]));
  assert.equal(verdict("x\njane", "admins"), "allow");
});
test("any change of a role or binding affects the next decision", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const zed = user("zed", "new");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "no opinion");
  w.bind("", "late", "ClusterRole=view", "Group=new");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "allow");
  w.role("", "view");
  assert.equal(rbac.decide(asks("list", on("pods"), zed)).verdict, "no opinion");
});
test("without changes nothing is read again", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const ask = (): unknown => rbac.decide(asks("list", on("pods", inNs), user("bob", "dev")));
  ask();
  const before = w.reads();
  ask();
  assert.equal(w.reads(), before);
});
test("overlong requests are decided but not cached", () => {
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
test("bindings of a namespace with an overlong name are not cached either", () => {
  const w = world();
  const rbac = rbacAuthorizer(w.source);
  const ask = (namespace: string): number => {
    const before = w.reads();
    rbac.decide(asks("get", on("pods", { namespace })));
    return w.reads() - before;
  };
  const long = "x".repeat(10_000);
  assert.ok(ask(long) > 0 && ask(long) > 0);
  assert.ok(ask("short") > 0 && ask("short") === 0);
});
test("the rules of a user are returned, cluster-wide ones first", () => {
  const w = world();
  w.role("", "paths", { verbs: ["get"], nonResourceURLs: ["/healthz"] });
  w.bind("", "z-paths", "ClusterRole=paths", "User=bob");
  assert.deepEqual(rbacAuthorizer(w.source).rulesFor(user("bob"), "ns"), {
    resourceRules: [rule(["get", "list"], ["pods"]), rule(["get"], ["secrets"], { resourceNames: ["one"] })],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
    incomplete: false,
  });
  assert.equal(
    rbacAuthorizer(w.source).rulesFor(user("frank"), "ns").error,
    'role.rbac.authorization.example.com "nowhere" not found',
  );
});
