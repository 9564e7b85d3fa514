import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { parseAuthorizationConfig } from "./authorization-config.ts";
import type { Attributes } from "./authorizer.ts";

const file = "authz.yaml";
const modes = ["AlwaysAllow", "RBAC", "Node", "Webhook"];
type Part = Record<string, unknown>;

function parse(authorizers: readonly Part[], { dialect = dialects.orch, version = "v1beta1" } = {}) {
  const apiVersion = `apiserver.config.${dialect.wire.groupSuffix}/${version}`;
  const text = JSON.stringify({ apiVersion, kind: "AuthorizationConfiguration", authorizers });
  return parseAuthorizationConfig(text, file, { dialect, modes });
}
const rbac = { type: "RBAC", name: "rbac" };
const hook = (more: Part = {}, name = "one"): Part => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "3s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "NoOpinion",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: import.meta.filename },
    ...more,
  },
});
const conditions = (...expressions: string[]): Part => ({
  matchConditionSubjectAccessReviewVersion: "v1",
  matchConditions: expressions.map((expression) => ({ expression })),
});

const rejected: [name: string, authorizers: Part[], message: string | RegExp][] = [
  ["nothing", [], "authorizers: Required value: at least one authorization mode must be defined"],
  ["an unknown field", [{ ...rbac, x: 1 }], 'strict decoding error: unknown field "authorizers[0].x"'],
  ["no type", [{ name: "a" }], "authorizers[0].type: Required value"],
  [
    "an unknown type",
    [{ type: "Magic", name: "magic" }],
    'authorizers[0].type: Unsupported value: "Magic": supported values: "AlwaysAllow", "Node", "RBAC", "Webhook"',
  ],
  ["a duplicate mode", [rbac, rbac], 'authorizers[1].type: Duplicate value: "RBAC"'],
  ["no name", [hook({}, "")], "authorizers[0].name: Required value"],
  ["a duplicate name", [hook(), hook()], 'authorizers[1].name: Duplicate value: "one"'],
  [
    "a bad name",
    [hook({}, "A B")],
    /^authorizers\[0\]\.name: Invalid value: "A B": authorizer name is invalid: /,
  ],
  [
    "a mode with another name",
    [{ type: "RBAC", name: "x" }],
    "expected name rbac for authorizer RBAC instead of x",
  ],
  [
    "no webhook",
    [{ type: "Webhook", name: "w" }],
    "authorizers[0].webhook: Required value: required when type=Webhook",
  ],
  [
    "webhook settings of another mode",
    [{ ...hook(), ...rbac }],
    'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
  ],
  ["no timeout", [hook({ timeout: "0s" })], "authorizers[0].timeout: Required value"],
  [
    "a long timeout",
    [hook({ timeout: "31s" })],
    'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
  ],
  [
    "a negative time",
    [hook({ authorizedTTL: "-1s" })],
    'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s',
  ],
  [
    "an unknown version",
    [hook({ subjectAccessReviewVersion: "v2" })],
    'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
  ],
  [
    "an unknown policy",
    [hook({ failurePolicy: "Fail" })],
    'authorizers[0].failurePolicy: Unsupported value: "Fail": supported values: "NoOpinion", "Deny"',
  ],
  ["no policy", [hook({ failurePolicy: "" })], "authorizers[0].failurePolicy: Required value"],
  ["no connection", [hook({ connectionInfo: {} })], "authorizers[0].connectionInfo.type: Required value"],
  [
    "an in-cluster connection",
    [hook({ connectionInfo: { type: "InClusterConfig" } })],
    /^authorizers\[0\]\.connectionInfo\.type: Invalid value: "InClusterConfig"/,
  ],
  [
    "a relative file",
    [hook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "x" } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "x": must be an absolute path',
  ],
  [
    "a missing file",
    [hook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/absent/x" } })],
    /kubeConfigFile: Invalid value: "\/absent\/x": error loading file: stat \/absent\/x: no such file or directory$/,
  ],
  [
    "a directory as the file",
    [hook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: import.meta.dirname } })],
    /must be a regular file$/,
  ],
  [
    "conditions without a version",
    [hook({ matchConditions: [{ expression: "true" }] })],
    "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
  ],
  [
    "an empty condition",
    [hook(conditions(" "))],
    "authorizers[0].matchConditions[0].expression: Required value",
  ],
  [
    "a duplicate condition",
    [hook(conditions("true", "true"))],
    'authorizers[0].matchConditions[1].expression: Duplicate value: "true"',
  ],
  [
    "a condition that is not boolean",
    [hook(conditions("request.user"))],
    'authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
  ],
  [
    "a condition over an unknown variable",
    [hook(conditions("request.other == ''"))],
    /compilation failed: .*undefined field 'other'/s,
  ],
  ["too many conditions", [hook(conditions(...Array(65).fill("true")))], /matchConditions: Too many/],
];
for (const [name, authorizers, message] of rejected)
  test(`an authorization file with ${name} is refused`, () =>
    assert.throws(
      () => parse(authorizers),
      (error: Error) => {
        const text = error.message.slice(file.length + 2);
        if (typeof message === "string") assert.equal(text, message);
        else assert.match(text, message);
        return true;
      },
    ));

test("a webhook has its configured durations, or the defaults", () => {
  const of = (more: Part) => {
    const { matches: _, ...rest } = parse([hook(more)])[0]!.webhook!;
    return rest;
  };
  const usual = {
    timeoutMilliseconds: 3000,
    authorizedMilliseconds: 300_000,
    unauthorizedMilliseconds: 30_000,
    version: "v1",
    failurePolicy: "NoOpinion",
    clientConfigFile: import.meta.filename,
  };
  assert.deepEqual(of({}), usual);
  assert.deepEqual(of({ authorizedTTL: "1m", cacheUnauthorizedRequests: false, failurePolicy: "Deny" }), {
    ...usual,
    authorizedMilliseconds: 60_000,
    unauthorizedMilliseconds: 0,
    failurePolicy: "Deny",
  });
});

test("authorizers keep their order, in every version and dialect", () => {
  for (const dialect of Object.values(dialects))
    for (const version of ["v1alpha1", "v1beta1", "v1"]) {
      const authorizers = parse([hook(), { type: "Node", name: "node" }, rbac, hook({}, "two")], {
        dialect,
        version,
      });
      assert.deepEqual(
        authorizers.map(({ name }) => name),
        ["one", "node", "rbac", "two"],
      );
    }
});

const ann: Attributes = {
  user: { name: "ann", groups: ["dev"], extra: { scope: ["x"] } },
  verb: "get",
  resource: { group: "apps", version: "v1", resource: "pods", subresource: "", namespace: "n", name: "p" },
};
const path: Attributes = { user: { name: "ann", groups: [] }, verb: "get", path: "/x" };
const matches: [expressions: string[], attributes: Attributes, expected: boolean | RegExp][] = [
  [["request.user == 'ann' && request.uid == ''"], ann, true],
  [["'dev' in request.groups", "request.extra.scope == ['x']"], ann, true],
  [["has(request.resourceAttributes)"], path, false],
  [["request.nonResourceAttributes.path == '/x'"], path, true],
  [["request.resourceAttributes.group == 'apps' && request.resourceAttributes.verb == 'get'"], ann, true],
  [["request.resourceAttributes.subresource == ''"], ann, true],
  [["request.extra.other == ['x']", "false"], ann, false],
  [
    ["request.extra.other == ['x']"],
    ann,
    /cel evaluation error: expression 'request\.extra\.other == \['x'\]' resulted in error: no such key: other/,
  ],
];
for (const [expressions, attributes, expected] of matches)
  test(`[${expressions.join(", ")}] ${String(expected)}`, () => {
    const found = parse([hook(conditions(...expressions))])[0]!.webhook!.matches!(attributes);
    if (expected instanceof RegExp) assert.match((found as { error: string }).error, expected);
    else assert.equal(found, expected);
  });
