import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectNamed } from "#dialect";
import { type PolicyRequest, parsePolicy, readPolicyFile } from "./policy.ts";

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
  ["an asterisk is not a user wildcard", { users: ["*"] }, get(), false],
  ["an unauthenticated request matches no user", { users: ["ann"] }, get({}, { user: undefined }), false],
  ["one of the groups is enough", { userGroups: ["ops", "other"] }, get(), true],
  ["no group matches", { userGroups: ["other"] }, get(), false],
  ["a verb is named exactly", { verbs: ["get"] }, get(), true],
  ["an asterisk is not a verb wildcard", { verbs: ["*"] }, get(), false],
  ["a namespace matches", { namespaces: ["n"] }, get(), true],
  ["cluster scope is the empty namespace", { namespaces: [""] }, get({ namespace: "" }), true],
  ["a rule with namespaces matches only resources", { namespaces: [""] }, path("/healthz"), false],
  ["a group alone matches all its resources", { resources: [{ group: "" }] }, get(), true],
  ["another group does not match", { resources: [{ group: "apps" }] }, get(), false],
  [
    "a resource does not match its subresources",
    { resources: [{ resources: ["pods"] }] },
    get({ subresource: "log" }),
    false,
  ],
  [
    "a subresource is named with its resource",
    { resources: [{ resources: ["pods/log"] }] },
    get({ subresource: "log" }),
    true,
  ],
  ["a resource and all its subresources match", { resources: [{ resources: ["pods/*"] }] }, get(), true],
  [
    "a subresource of any resource matches",
    { resources: [{ resources: ["*/log"] }] },
    get({ subresource: "log" }),
    true,
  ],
  [
    "an asterisk matches everything",
    { resources: [{ resources: ["*"] }] },
    get({ subresource: "log" }),
    true,
  ],
  [
    "a name of an object matches",
    { resources: [{ resources: ["pods"], resourceNames: ["p"] }] },
    get(),
    true,
  ],
  [
    "another name does not match",
    { resources: [{ resources: ["pods"], resourceNames: ["q"] }] },
    get(),
    false,
  ],
  ["a path matches exactly", { nonResourceURLs: ["/healthz"] }, path("/healthz"), true],
  ["a path does not match paths below it", { nonResourceURLs: ["/healthz"] }, path("/healthz/ping"), false],
  ["a trailing asterisk matches any suffix", { nonResourceURLs: ["/healthz*"] }, path("/healthz/ping"), true],
  ["a rule with paths does not match resources", { nonResourceURLs: ["*"] }, get(), false],
];
for (const [name, rule, request, matches] of matching) {
  test(name, () => {
    const policy = policyOf({ rules: [{ level: "Request", ...rule }] });
    assert.equal(policy.configFor(request).level, matches ? "Request" : "None");
  });
}

test("the first matching rule decides, and omitted stages of policy and rule are combined", () => {
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

test("unknown fields do not invalidate a policy", () => {
  const { warnings } = policyOf({ rules: [{ level: "None", colour: "red" }] });
  assert.match(warnings.join(), /colour/);
});

const refused: [name: string, body: object, why: string][] = [
  ["no rules", {}, "loaded illegal policy with 0 rules"],
  [
    "an unknown level",
    { rules: [{ level: "Everything" }] },
    'rules[0].level: Unsupported value: "Everything": supported values: "None", "Metadata", "Request", "RequestResponse"',
  ],
  ["no level", { rules: [{ level: "None" }, {}] }, "rules[1].level: Required value"],
  [
    "an unknown stage",
    { rules: [{ level: "None" }], omitStages: ["Later"] },
    'omitStages[0]: Invalid value: "Later": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
  ],
  [
    "paths without a slash or with an inner asterisk",
    { rules: [{ level: "None", nonResourceURLs: ["x", "/a/*/b"] }] },
    `[rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/a/*/b": non-resource URL wildcards '*' must be the final character of the rule]`,
  ],
  [
    "paths in addition to resources",
    { rules: [{ level: "None", nonResourceURLs: ["/a"], namespaces: ["x"] }] },
    'rules[0].nonResourceURLs: Invalid value: []string{"/a"}: rules cannot apply to both regular resources and non-resource URLs',
  ],
  [
    "an invalid group name",
    { rules: [{ level: "None", resources: [{ group: "A!" }] }] },
    `rules[0].resources.group: Invalid value: "A!": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ],
  [
    "names without resources",
    { rules: [{ level: "None", resources: [{ resourceNames: ["x"] }] }] },
    'rules[0].resources.resourceNames: Invalid value: []string{"x"}: using resourceNames requires at least one resource',
  ],
  [
    "a string in place of a list",
    { rules: [{ level: "None", users: "bob" }] },
    "failed decoding: json: cannot unmarshal string into Go struct field PolicyRule.rules.users of type []string",
  ],
  [
    "an old version",
    { apiVersion: `audit.${dialect.wire.groupSuffix}/v1beta1`, rules: [{ level: "None" }] },
    `failed decoding: no kind "Policy" is registered for version "audit.${dialect.wire.groupSuffix}/v1beta1"`,
  ],
  [
    "no version",
    { apiVersion: "", kind: "", rules: [{ level: "None" }] },
    `unknown group version field audit.${dialect.wire.groupSuffix}/__internal, Kind=Policy in policy`,
  ],
];
for (const [name, body, why] of refused)
  test(`a policy is rejected for ${name}, with kube-apiserver's error text`, () =>
    assert.throws(
      () => policyOf(body),
      new Error(`loading audit policy file: ${why}: from file policy.yaml`),
    ));

test("a policy may omit its kind", () => {
  const text = JSON.stringify({ apiVersion: header.apiVersion, rules: [{ level: "Metadata" }] });
  assert.equal(parsePolicy(text, "policy.yaml", dialect).configFor(get()).level, "Metadata");
});

test("a missing policy file is reported with kube-apiserver's error text", () =>
  assert.throws(
    () => readPolicyFile("/nowhere/at/all"),
    new Error(
      'loading audit policy file: failed to read file path "/nowhere/at/all": open /nowhere/at/all: no such file or directory',
    ),
  ));
