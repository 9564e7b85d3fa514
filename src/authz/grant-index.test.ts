import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyRule } from "#api";
import { grantIndex, maxEntries } from "./grant-index.ts";
import { asks, on, rule, sourceOf, user } from "./rbac.fixture.ts";
import { rbacAuthorizer } from "./rbac.ts";
import { ruleAllows } from "./rules.ts";

const grants: PolicyRule[][] = [
  [rule(["get"], ["secrets"], { resourceNames: ["one"] })],
  [rule(["list", "get"], ["pods", "pods/log"]), rule(["get"], ["secrets"])],
  [],
  [rule(["*"], ["pods"])],
  [rule(["get"], ["*/status"]), rule(["get"], [], { nonResourceURLs: ["/metrics", "/api/*"] })],
  [rule(["get", "get"], ["*"], { apiGroups: ["apps", "*"] })],
  [rule(["*"], ["*"], { apiGroups: ["apps"] }), rule(["*"], [], { nonResourceURLs: ["*"] })],
];

test("the index finds the first allowing grant, like a linear search", () => {
  const index = grantIndex(grants)!;
  const resources = ["pods", "pods/log", "pods/status", "secrets", "deployments", "*"];
  const questions = ["get", "list", "delete", "*", "constructor"].flatMap((verb) => [
    ...["/metrics", "/api/v1", "/version", ""].map((path) => asks(verb, path)),
    ...resources.flatMap((resource) =>
      ["", "apps"].flatMap((group) => ["", "one"].map((name) => asks(verb, on(resource, { group, name })))),
    ),
  ]);
  for (const question of questions) {
    const first = grants.findIndex((rules) => rules.some((each) => ruleAllows(each, question)));
    assert.equal(index.find(question) ?? -1, first, JSON.stringify(question));
  }
});

test("rules with too many entries have no index", () => {
  const words = Array.from({ length: 150 }, (_, at) => `w${at}`);
  assert.equal(grantIndex([[rule(words, words)]]), undefined);
  assert.ok(words.length ** 2 > maxEntries);
});

test("a user with many bindings gets the same decisions with and without the index", () => {
  const world = sourceOf();
  for (let at = 0; at < 40; at++) {
    if (at !== 30) world.role("", `r${at}`, rule(["get"], [`things${at}`]));
    world.bind(at % 2 ? "ns" : "", `b${at}`, `ClusterRole=r${at}`, "User=bob");
  }
  const rbac = rbacAuthorizer(world.source);
  const ask = (resource: string, namespace = "ns") =>
    rbac.decide(asks("get", on(resource, { namespace }), user("bob")));
  for (let round = 0; round < 2; round++) {
    assert.match(ask("things38").reason, /ClusterRoleBinding "b38"/);
    assert.match(ask("things39").reason, /RoleBinding "b39\/ns"/);
    assert.match(ask("things1").reason, /RoleBinding "b1\/ns"/);
    assert.equal(ask("things1", "").verdict, "no opinion");
    assert.equal(ask("things30").reason, 'RBAC: clusterrole.rbac.authorization.example.com "r30" not found');
    world.role("", "r1", rule(["get", "list"], ["things1"]));
  }
  world.role("", "r1", rule(["list"], ["things1"]));
  assert.equal(ask("things1").verdict, "no opinion");
});
