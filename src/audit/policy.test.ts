import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectNamed } from "#dialect";
import { type PolicyRequest, parsePolicy } from "./policy.ts";

const dialect = dialectNamed("orch")!;
const header = { apiVersion: `audit.${dialect.wire.groupSuffix}/v1`, kind: "Policy" };
const policyOf = (body: object): ReturnType<typeof parsePolicy> =>
  parsePolicy(JSON.stringify({ ...header, ...body }), "policy.yaml", dialect);

const pods: NonNullable<PolicyRequest["resource"]> = {
  group: "",
  resource: "pods",
  subresource: "",
  namespace: "n",
  name: "p",
};
const get = (resource: Partial<typeof pods> = {}, more: Partial<PolicyRequest> = {}): PolicyRequest => ({
  user: { name: "ann", groups: ["dev", "ops"] },
  verb: "get",
  path: "/api/v1/namespaces/n/pods/p",
  resource: { ...pods, ...resource },
  ...more,
});
const path = (of: string): PolicyRequest => ({ user: { name: "ann", groups: [] }, verb: "get", path: of });

const matching: [name: string, rule: object, request: PolicyRequest, matches: boolean][] = [
  ["an empty rule matches resources", {}, get(), true],
  ["an empty rule matches other paths", {}, path("/healthz"), true],
  ["a user is named exactly", { users: ["ann"] }, get(), true],
  ["a star is no user", { users: ["*"] }, get(), false],
  ["nobody is no user", { users: ["ann"] }, get({}, { user: undefined }), false],
  ["one of the groups is enough", { userGroups: ["ops", "other"] }, get(), true],
  ["no group matches", { userGroups: ["other"] }, get(), false],
  ["a verb is named exactly", { verbs: ["get"] }, get(), true],
  ["a star is no verb", { verbs: ["*"] }, get(), false],
  ["a namespace matches", { namespaces: ["n"] }, get(), true],
  ["cluster scope is the empty namespace", { namespaces: [""] }, get({ namespace: "" }), true],
  ["a rule of namespaces is about resources only", { namespaces: [""] }, path("/healthz"), false],
  ["a group alone is all its resources", { resources: [{ group: "" }] }, get(), true],
  ["another group does not match", { resources: [{ group: "apps" }] }, get(), false],
  [
    "a resource does not stand for its parts",
    { resources: [{ resources: ["pods"] }] },
    get({ subresource: "log" }),
    false,
  ],
  [
    "a part is named with its resource",
    { resources: [{ resources: ["pods/log"] }] },
    get({ subresource: "log" }),
    true,
  ],
  ["all parts of a resource, and itself", { resources: [{ resources: ["pods/*"] }] }, get(), true],
  ["a part of any resource", { resources: [{ resources: ["*/log"] }] }, get({ subresource: "log" }), true],
  ["a star is everything", { resources: [{ resources: ["*"] }] }, get({ subresource: "log" }), true],
  [
    "a name of an object matches",
    { resources: [{ resources: ["pods"], resourceNames: ["p"] }] },
    get(),
    true,
  ],
  ["another name does not", { resources: [{ resources: ["pods"], resourceNames: ["q"] }] }, get(), false],
  ["a path matches exactly", { nonResourceURLs: ["/healthz"] }, path("/healthz"), true],
  [
    "a path does not stand for what is below it",
    { nonResourceURLs: ["/healthz"] },
    path("/healthz/ping"),
    false,
  ],
  ["a star at the end stands for anything", { nonResourceURLs: ["/healthz*"] }, path("/healthz/ping"), true],
  ["a rule of paths is not about resources", { nonResourceURLs: ["*"] }, get(), false],
];
for (const [name, rule, request, matches] of matching) {
  test(name, () => {
    const policy = policyOf({ rules: [{ level: "Request", ...rule }] });
    assert.equal(policy.configFor(request).level, matches ? "Request" : "None");
  });
}

test("the first rule that matches decides, and stages of policy and rule add up", () => {
  const policy = policyOf({
    omitStages: ["RequestReceived"],
    omitManagedFields: true,
    rules: [
      { level: "Metadata", verbs: ["get"], omitStages: ["Panic"], omitManagedFields: false },
      { level: "RequestResponse" },
    ],
  });
  const first = policy.configFor(get());
  assert.deepEqual(
    [first.level, [...first.omitStages], first.omitManagedFields],
    ["Metadata", ["RequestReceived", "Panic"], false],
  );
  assert.equal(policy.configFor(get({}, { verb: "list" })).omitManagedFields, true);
});

test("unknown fields do not refuse a policy", () => {
  const { warnings } = policyOf({ rules: [{ level: "None", colour: "red" }] });
  assert.match(warnings.join(), /colour/);
});

const refused: [name: string, body: object, field: RegExp][] = [
  ["no rules", {}, /rules/],
  ["an unknown level", { rules: [{ level: "Everything" }] }, /rules\[0\]\.level/],
  ["no level", { rules: [{ level: "None" }, {}] }, /rules\[1\]\.level/],
  ["an unknown stage", { rules: [{ level: "None" }], omitStages: ["Later"] }, /omitStages\[0\]/],
  ["a path without a slash", { rules: [{ level: "None", nonResourceURLs: ["x"] }] }, /nonResourceURLs\[0\]/],
  [
    "a star inside a path",
    { rules: [{ level: "None", nonResourceURLs: ["/a/*/b"] }] },
    /nonResourceURLs\[0\]/,
  ],
  [
    "paths beside resources",
    { rules: [{ level: "None", nonResourceURLs: ["/a"], namespaces: ["x"] }] },
    /rules\[0\]\.nonResourceURLs/,
  ],
  [
    "a group that is no name",
    { rules: [{ level: "None", resources: [{ group: "A!" }] }] },
    /resources\.group/,
  ],
  [
    "names without resources",
    { rules: [{ level: "None", resources: [{ resourceNames: ["x"] }] }] },
    /resourceNames/,
  ],
  ["a text in place of a list", { rules: [{ level: "None", users: "bob" }] }, /rules\.users/],
  [
    "an old version",
    { apiVersion: `audit.${dialect.wire.groupSuffix}/v1beta1`, rules: [{ level: "None" }] },
    /apiVersion/,
  ],
];
for (const [name, body, field] of refused)
  test(`a policy is refused for ${name}`, () => assert.throws(() => policyOf(body), field));
