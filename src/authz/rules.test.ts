import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyRule } from "#api";
import type { Attributes } from "./authorizer.ts";
import { asks, on, rule } from "./rbac.fixture.ts";
import { compact, describeRule, ruleAllows, uncovered } from "./rules.ts";

const matches: [name: string, rule: PolicyRule, action: Attributes, allowed: boolean][] = [
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
  ["an unnamed subresource", rule(["get"], ["pods"]), asks("get", on("pods/log")), false],
  ["a named subresource", rule(["get"], ["pods/log"]), asks("get", on("pods/log")), true],
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
    "an object with another name",
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
for (const [name, given, action, allowed] of matches)
  test(`a rule ${allowed ? "allows" : "does not allow"} ${name}`, () =>
    assert.equal(ruleAllows(given, action), allowed));

const coverage: [name: string, wanted: PolicyRule[], owned: PolicyRule[], missing: PolicyRule[]][] = [
  ["the same is covered", [rule(["get"], ["pods"])], [rule(["get"], ["pods"])], []],
  [
    "several rules together cover one",
    [rule(["get", "list"], ["pods", "secrets"])],
    [rule(["get", "list"], ["pods"]), rule(["get"], ["secrets"]), rule(["list"], ["secrets"])],
    [],
  ],
  [
    "missing parts are returned one by one",
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
    "a path outside the prefix is not covered",
    [{ verbs: ["get"], nonResourceURLs: ["/b"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/b"] }],
  ],
];
for (const [name, wanted, owned, missing] of coverage)
  test(`of rules, ${name}`, () => assert.deepEqual(uncovered(wanted, owned), missing));
test("missing rules are joined by verb and formatted", () => {
  const parts = uncovered([rule(["get", "list"], ["pods"], { resourceNames: ["a"] })], []);
  assert.deepEqual(compact(parts).map(describeRule), [
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
  ]);
});
