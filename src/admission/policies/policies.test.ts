import assert from "node:assert/strict";
import { test } from "node:test";
import { endSlices } from "#kit";
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "#api";
import { ApiError } from "#base";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf } from "../attributes.fixture.ts";
import { admissionExpressions } from "../expressions/expressions.ts";
import { type FindParams, admissionPolicies } from "./policies.ts";

type PolicySpec = ValidatingAdmissionPolicy["spec"];
type BindingSpec = ValidatingAdmissionPolicyBinding["spec"];

const rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "*" };
const pod = () => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "p", labels: { app: "web" } },
  spec: { replicas: 3 },
});

interface Outcome {
  readonly refused?: ApiError;
  readonly warnings: readonly string[];
  readonly notes: Readonly<Record<string, string>>;
  /** The recorded metrics. */
  readonly counted: readonly string[];
}

async function evaluate(
  policy: Partial<PolicySpec>,
  binding: Partial<BindingSpec> = {},
  given: Partial<AdmissionAttributes> = {},
  findParams: FindParams = () => Promise.resolve({ error: "no parameters here" }),
): Promise<Outcome> {
  const warnings: string[] = [];
  const notes: Record<string, string> = {};
  const counted: string[] = [];
  const spec = { matchConstraints: { resourceRules: [rule] }, failurePolicy: "Fail", ...policy };
  const bound = { policyName: "policy", validationActions: ["Deny"], ...binding };
  const plugin = admissionPolicies({
    policies: () => [{ metadata: { name: "policy", creationTimestamp: null }, spec, status: {} } as never],
    bindings: () => [{ metadata: { name: "binding", creationTimestamp: null }, spec: bound } as never],
    findParams,
    knowsKind: ({ kind }) => kind === paramKind.kind,
    expressions: admissionExpressions("orch"),
    namespaceLabels: () => Promise.resolve({ team: "a" }),
    decide: () => (query) => Promise.resolve({ allowed: query.verb === "get", reason: "because" }),
    metrics: {
      conditionFailed: () => undefined,
      defined: () => void counted.push("defined"),
      enforced: (name, bound, enforcement) => void counted.push(`${name}/${bound} ${enforcement}`),
    },
    registrationGroup: "admissionregistration.example",
    failureAnnotation: "validation_failure",
  });
  const attributes = attributesOf({
    object: pod(),
    warn: (text) => warnings.push(text),
    annotate: (key, value) => void (notes[key] ??= value),
    ...given,
  });
  try {
    await plugin.validate!(attributes);
    return { warnings, notes, counted };
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return { refused: error, warnings, notes, counted };
  }
}

const check = (expression: string, more: object = {}): Partial<PolicySpec> => ({
  validations: [{ expression, ...more }],
});
const params: FindParams = () => Promise.resolve({ objects: [{ data: { most: "2" } }] });
const paramKind = { apiVersion: "v1", kind: "ConfigMap" };

const verdicts: [name: string, policy: Partial<PolicySpec>, code: number | undefined, message?: RegExp][] = [
  ["a valid request passes", check("object.spec.replicas <= 3"), undefined],
  [
    "a violation is refused as Invalid",
    check("object.spec.replicas > 3"),
    422,
    /policy 'policy' with binding 'binding' denied request: failed expression: object\.spec\.replicas > 3/i,
  ],
  ["the reason determines the code", check("false", { reason: "Forbidden" }), 403],
  ["the message is used", check("false", { message: " too many " }), 422, /denied request: too many/],
  [
    "the message expression takes precedence over the message",
    check("false", { message: "no", messageExpression: "'has ' + string(object.spec.replicas)" }),
    422,
    /denied request: has 3/,
  ],
  [
    "the message is used if the message expression fails",
    check("false", { message: "no", messageExpression: "object.absent" }),
    422,
    /denied request: no$/,
  ],
  [
    "the message is used if the message expression has two lines",
    check("false", { message: "no", messageExpression: "'a\\nb'" }),
    422,
    /denied request: no$/,
  ],
  [
    "an evaluation error refuses with failure policy Fail",
    check("object.absent == 1"),
    422,
    /resulted in error: no such key: absent/,
  ],
  [
    "an evaluation error is ignored with failure policy Ignore",
    { ...check("object.absent == 1"), failurePolicy: "Ignore" },
    undefined,
  ],
  [
    "a request that does not meet the conditions is skipped",
    { ...check("false"), matchConditions: [{ name: "c", expression: "request.operation == 'DELETE'" }] },
    undefined,
  ],
  [
    "excluded resources are skipped",
    { ...check("false"), matchConstraints: { resourceRules: [rule], excludeResourceRules: [rule] } },
    undefined,
  ],
  [
    "other names are skipped",
    { ...check("false"), matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["q"] }] } },
    undefined,
  ],
  [
    "other namespaces are skipped",
    {
      ...check("false"),
      matchConstraints: { resourceRules: [rule], namespaceSelector: { matchLabels: { team: "b" } } },
    },
    undefined,
  ],
  [
    "the authorizer is available",
    check(
      "authorizer.group('').resource('pods').check('get').allowed() && !authorizer.requestResource.check('delete').allowed()",
    ),
    undefined,
  ],
  [
    "an expression that exceeds the cost limit refuses",
    check(
      "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f > 0))))))",
    ),
    422,
    /cost limit exceeded/,
  ],
];
for (const [name, policy, code, message] of verdicts) {
  test(name, async () => {
    const { refused } = await evaluate(policy);
    assert.equal(refused?.code, code);
    if (message) assert.match(refused?.message ?? "", message);
  });
}

test("Warn sends a warning, Audit adds an annotation, and neither refuses", async () => {
  const { refused, warnings, notes } = await evaluate(check("false", { message: "no" }), {
    validationActions: ["Warn", "Audit"],
  });
  assert.equal(refused, undefined);
  assert.deepEqual(warnings, [
    "Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'binding': no",
  ]);
  assert.deepEqual(JSON.parse(notes["validation_failure"] ?? ""), [
    {
      message: "no",
      policy: "policy",
      binding: "binding",
      expressionIndex: 0,
      validationActions: ["Warn", "Audit"],
    },
  ]);
});

test("keys of audit annotations contain the policy's name; empty and null values are omitted", async () => {
  const { notes } = await evaluate({
    auditAnnotations: [
      { key: "who", valueExpression: "request.userInfo.username" },
      { key: "none", valueExpression: "''" },
    ],
  });
  assert.deepEqual(notes, { "policy/who": "u" });
});

test("expressions can access the parameters", async () => {
  const policy = { ...check("object.spec.replicas <= int(params.data.most)"), paramKind };
  const { refused } = await evaluate(policy, { paramRef: { name: "x" } }, {}, params);
  assert.equal(refused?.code, 422);
  const without = await evaluate({ ...check("params == null"), paramKind });
  assert.equal(without.refused, undefined);
});

test("missing parameters refuse, unless failures are ignored", async () => {
  const policy = { ...check("true"), paramKind };
  const { refused } = await evaluate(policy, { paramRef: { name: "x" } });
  assert.match(refused?.message ?? "", /failed to configure binding: no parameters here/);
  const ignored = await evaluate({ ...policy, failurePolicy: "Ignore" }, { paramRef: { name: "x" } });
  assert.equal(ignored.refused, undefined);
});

test("an unknown kind of parameters refuses all matching requests, even without a binding", async () => {
  const policy = { ...check("true"), paramKind: { apiVersion: "a.example/v1", kind: "Unknown" } };
  const { refused } = await evaluate(policy, { policyName: "another" });
  assert.match(
    refused?.message ?? "",
    /'policy' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a\.example\/v1, Kind=Unknown'/,
  );
  const ignored = await evaluate({ ...policy, failurePolicy: "Ignore" });
  assert.equal(ignored.refused, undefined);
});

test("a refusal names the resource and has a single cause with the message", async () => {
  const { refused } = await evaluate(check("false"));
  assert.deepEqual(refused?.details, {
    name: "p",
    kind: "pods",
    causes: [
      {
        message:
          "ValidatingAdmissionPolicy 'policy' with binding 'binding' denied request: failed expression: false",
      },
    ],
  });
});

test("policies do not apply to policies", async () => {
  const resource = {
    group: "admissionregistration.example",
    version: "v1alpha1",
    resource: "validatingadmissionpolicies",
  };
  const { refused } = await evaluate(check("false"), {}, { resource });
  assert.equal(refused, undefined);
});

test("other work runs between the expressions of a small object", async (t) => {
  const turns = endSlices(t);
  await evaluate({ validations: Array.from({ length: 5 }, () => ({ expression: "true" })) });
  assert.ok(turns() >= 4);
});

test("all policies share one copy of the objects in a version", async () => {
  let copies = 0;
  const versioned = () => {
    copies += 1;
    return { object: pod(), oldObject: undefined };
  };
  const two: FindParams = () => Promise.resolve({ objects: [{}, {}] });
  await evaluate({ ...check("true"), paramKind }, { paramRef: { name: "p" } }, { versioned }, two);
  assert.equal(copies, 1);
});

const error = "object.spec.nothing > 1";
const counts: [name: string, policy: Partial<PolicySpec>, actions: string[], enforced: string[]][] = [
  ["a valid request", check("true"), ["Deny"], []],
  ["a violation", check("false"), ["Deny"], ["deny"]],
  ["a violation with a binding that only warns", check("false"), ["Warn", "Audit"], ["warn", "audit"]],
  ["an evaluation error", check(error), ["Deny"], ["deny"]],
  ["an ignored evaluation error", { ...check(error), failurePolicy: "Ignore" }, ["Deny"], ["allow"]],
  [
    "an error in an audit annotation",
    { auditAnnotations: [{ key: "k", valueExpression: "string(object.spec.nothing)" }] },
    ["Warn"],
    ["deny"],
  ],
];
for (const [name, policy, validationActions, enforced] of counts)
  test(`${name} is counted by its enforcement action`, async () => {
    const { counted } = await evaluate(policy, { validationActions });
    assert.deepEqual(counted, ["defined", ...enforced.map((each) => `policy/binding ${each}`)]);
  });
