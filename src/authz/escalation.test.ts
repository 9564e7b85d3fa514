import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRole, PolicyRule, Role } from "#api";
import type { ApiError } from "#base";
import { type ResourceTarget, authorizerOf } from "./authorizer.ts";
import { checkBinding, checkRole, onlyOwnershipChanged } from "./escalation.ts";
import { group, inNs, on, rule, user, world } from "./rbac.fixture.ts";
import { rbacAuthorizer } from "./rbac.ts";

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
test("a role may grant permissions its author holds", async () =>
  checkRole(manager(), user("bob"), managing, asRole("r", rule(["get"], ["pods"]))));
test("a role may not grant more, and the error lists the missing rules", async () => {
  await assert.rejects(
    checkRole(manager(), user("bob", "g"), managing, asRole("r", rule(["get", "delete"], ["pods"]))),
    forbiddenWith(
      /^roles.rbac.authorization.example.com "r" is forbidden: user "bob" \(groups=\["g"\]\) is attempting .*:\n{APIGroups:\[""\], Resources:\["pods"\], Verbs:\["delete"\]}$/,
    ),
  );
});
test("rules with too many parts to compare are refused, unless a single rule of the author covers them", async () => {
  const words = Array.from({ length: 300 }, (_, at) => `w${at}`);
  const vast = rule(words, words, { resourceNames: words });
  await assert.rejects(
    checkRole(manager(), user("bob"), managing, asRole("r", vast)),
    forbiddenWith(/combine to 27000000 permissions, and no more than 50000/),
  );
  await checkRole(manager(rule(["*"], ["*"])), user("bob"), managing, asRole("r", vast));
});

test("users with escalate and the privileged group may grant anything", async () => {
  const escalate: PolicyRule = { verbs: ["escalate"], apiGroups: [group], resources: ["roles"] };
  await checkRole(manager(escalate), user("bob"), managing, asRole("r", rule(["*"], ["*"])));
  await checkRole(manager(), user("root", "system:masters"), managing, asRole("r", rule(["*"], ["*"])));
});
test("adding or removing aggregation requires holding everything", async () => {
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
test("a user may bind a role whose permissions they hold", async () =>
  checkBinding(manager(), user("bob"), bindTarget, binds("ClusterRole", "view")));
test("a user may not bind a role beyond their permissions", async () => {
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
test("a role that cannot exist cannot be bound", async () => {
  const refused = (name: string, target: ResourceTarget, message: RegExp) =>
    assert.rejects(
      checkBinding(manager(), user("bob"), target, binds("Role", name)),
      (error: ApiError) => error.code === 400 && message.test(error.message),
    );
  await refused("", bindTarget, /Name parameter required/);
  await refused("edit", on("clusterrolebindings", { group }), /Namespace parameter required/);
});
test("a user with bind may bind a role without holding it", async () => {
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
test("an update of owners or finalizers only is recognized", () => {
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
test("empty and absent lists or maps are equal", () => {
  const old = { metadata: { name: "r" }, aggregationRule: { clusterRoleSelectors: [{}] } };
  const emptied = (more: object): { metadata: object } => ({
    ...old,
    metadata: { name: "r", labels: {} },
    ...more,
  });
  assert.equal(onlyOwnershipChanged(emptied({ rules: [] }), old), true);
  assert.equal(onlyOwnershipChanged(emptied({ rules: [{}] }), old), false);
  assert.equal(
    onlyOwnershipChanged({ metadata: { name: "r" }, aggregationRule: {} } as never, {
      metadata: { name: "r" },
    }),
    false,
  );
});
