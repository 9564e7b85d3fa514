// Admission policies of later releases: three versions, variables, the namespace, parameters by label.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, each, serve } from "../../server.fixture.ts";

const group = "admissionregistration.orch.io";
const { must, ask, place, watch } = await serve({
  flags: [
    "--feature-gates=ValidatingAdmissionPolicy=true",
    `--runtime-config=${group}/v1beta1=true,${group}/v1alpha1=true`,
  ],
});
const policies = `/apis/${group}/v1/validatingadmissionpolicies`;
const bindings = `/apis/${group}/v1/validatingadmissionpolicybindings`;
let count = 0;

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const policy = (name: string, spec: Json): Json => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
});

/** Binds a policy in a new namespace; returns its verdict on a config map with this data. */
async function judged(
  spec: Json,
  paramRef?: Json,
  setUp?: (ns: string) => Promise<unknown>,
): Promise<string> {
  const ns = await place();
  await setUp?.(ns);
  const name = `later-${++count}`;
  await must(201, "POST", policies, { body: policy(name, spec) });
  const binding = {
    policyName: name,
    validationActions: ["Deny"],
    matchResources: { namespaceSelector: { matchLabels: { "orch.io/metadata.name": ns } } },
    ...(paramRef && { paramRef }),
  };
  const made = await must(201, "POST", bindings, { body: { metadata: { name }, spec: binding } });
  // Wait until the cache has the binding, and thereby everything written before.
  await must(200, "GET", `${bindings}?resourceVersion=${String(made.at("metadata.resourceVersion"))}`);
  const body = { metadata: { name: "given" }, data: { size: "3" } };
  const answer = await ask("POST", `/api/v1/namespaces/${ns}/configmaps`, { body });
  await must(200, "DELETE", `${bindings}/${name}`);
  return answer.status === 201 ? "passes" : String(answer.json["message"]).replace(/^.*denied request: /, "");
}

const says = (expression: string, messageExpression = "'no'"): Json => ({
  validations: [{ expression, messageExpression }],
});
const verdicts: [name: string, spec: Json, verdict: string][] = [
  [
    "a variable can be used by expressions and by later variables",
    {
      variables: [
        { name: "size", expression: "int(object.data.size)" },
        { name: "double", expression: "variables.size * 2" },
      ],
      ...says("variables.double == 7", "'it is ' + string(variables.double)"),
    },
    "it is 6",
  ],
  [
    "a variable that fails is an error where it is used",
    { variables: [{ name: "bad", expression: "object.data.absent" }], ...says("variables.bad == ''") },
    "expression 'variables.bad == ''' resulted in error: composited variable \"bad\" fails to evaluate: no such key: absent",
  ],
  [
    "an unused variable is not evaluated",
    { variables: [{ name: "bad", expression: "object.data.absent" }], ...says("true") },
    "passes",
  ],
  [
    "expressions have the functions of later releases",
    {
      variables: [{ name: "most", expression: "quantity('2')" }],
      matchConditions: [{ name: "sized", expression: "object.?data.?size.hasValue()" }],
      ...says(
        "quantity(object.data.size).isLessThan(variables.most)",
        "'%s is at least %s'.format([object.data.size, object.?data.?least.orValue('2')])",
      ),
    },
    "3 is at least 2",
  ],
  [
    "expressions can use the object's namespace",
    says("namespaceObject.metadata.name == ''", "namespaceObject.status.phase"),
    "Active",
  ],
];
for (const [name, spec, verdict] of verdicts)
  test(name, async () => assert.equal(await judged(spec), verdict));

const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
const limited = {
  paramKind,
  ...says("int(object.data.size) < int(params.data.most)", "'most ' + params.data.most"),
};
const limits = (ns: string): Promise<unknown> =>
  Promise.all(
    ["5", "3"].map((most) =>
      must(201, "POST", `/api/v1/namespaces/${ns}/configmaps`, {
        body: { metadata: { name: `limit-${most}`, labels: { limit: "yes" } }, data: { most, size: "0" } },
      }),
    ),
  );
const parameters: [name: string, ref: Json, verdict: string][] = [
  [
    "all parameters with matching labels in the namespace of the request apply",
    { selector: { matchLabels: { limit: "yes" } }, parameterNotFoundAction: "Deny" },
    "most 3",
  ],
  ["a parameter is selected by name", { name: "limit-5", parameterNotFoundAction: "Deny" }, "passes"],
  [
    "a missing parameter may allow requests",
    { selector: { matchLabels: { limit: "no" } }, parameterNotFoundAction: "Allow" },
    "passes",
  ],
  [
    "a missing parameter may deny requests",
    { name: "absent", parameterNotFoundAction: "Deny" },
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
  ],
];
for (const [name, ref, verdict] of parameters)
  test(name, async () => assert.equal(await judged(limited, ref, limits), verdict));

const refused: [name: string, path: string, body: Json, causes: string[]][] = [
  [
    "variables require valid identifiers and expressions that compile",
    policies,
    policy("x", {
      variables: [
        { name: "a-b", expression: "1" },
        { name: "c", expression: "variables.d" },
        { name: "", expression: "" },
      ],
      ...says("true"),
    }),
    [
      "Invalid spec.variables[0].name",
      "Invalid spec.variables[1].expression",
      "Required spec.variables[2].name",
      "Required spec.variables[2].expression",
    ],
  ],
  [
    "a paramRef requires a name or selector, and a parameterNotFoundAction",
    bindings,
    {
      metadata: { name: "x" },
      spec: { policyName: "x", validationActions: ["Deny"], paramRef: { name: "a", selector: {} } },
    },
    [
      "Forbidden spec.paramRef.name",
      "Forbidden spec.paramRef.selector",
      "Required spec.paramRef.parameterNotFoundAction",
    ],
  ],
];
for (const [name, path, body, causes] of refused)
  test(name, async () => assert.deepEqual((await must(422, "POST", path, { body })).causes, causes));

test("all versions serve the same objects, and discovery lists them", async () => {
  await must(201, "POST", policies, {
    body: policy("shown", { variables: [{ name: "a", expression: "1" }], ...says("variables.a == 1") }),
  });
  for (const version of ["v1", "v1beta1", "v1alpha1"]) {
    const { json, at } = await must(
      200,
      "GET",
      `/apis/${group}/${version}/validatingadmissionpolicies/shown`,
    );
    assert.equal(json["apiVersion"], `${group}/${version}`);
    assert.deepEqual(at("spec.variables"), [{ name: "a", expression: "1" }]);
  }
  const { at } = await must(200, "GET", `/apis/${group}`);
  assert.deepEqual(each(at("versions"), "version"), ["v1", "v1beta1", "v1alpha1"]);
});

test("the types of variables and of the expressions that use them are checked", async () => {
  const watching = watch(`${policies}?watch=true&fieldSelector=metadata.name%3Dtyped`);
  const variables = [
    { name: "size", expression: "object.data.size" },
    { name: "bad", expression: "object.foo" },
  ];
  await must(201, "POST", policies, {
    body: policy("typed", { variables, ...says("variables.size == 1 || variables.bad == 1") }),
  });
  let status: { observedGeneration?: number; typeChecking?: { expressionWarnings?: Json[] } };
  do status = ((await watching.next(1))[0]!["object"] as { status: typeof status }).status;
  while (status.observedGeneration === undefined);
  watching.stop();
  assert.deepEqual(each(status.typeChecking?.expressionWarnings, "fieldRef"), [
    "spec.variables[1].expression",
    "spec.validations[0].expression",
  ]);
});

test("a kind of parameters matters once a policy is bound, and may be deleted then", async () => {
  const ns = await place();
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    paramKind: { apiVersion: "limits.example/v1", kind: "Limit" },
    ...says("false"),
  };
  const create = () => ask("POST", `/api/v1/namespaces/${ns}/secrets`, { body: { metadata: { name: "s" } } });
  const verdict = async (wanted: RegExp): Promise<void> => {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const message = String((await create()).json["message"]).replace(/^.*denied request: /, "");
      if (wanted.test(message)) return;
      assert.ok(Date.now() < deadline, message);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await must(201, "POST", policies, { body: { metadata: { name: "limited" }, spec } });
  await must(201, "POST", `/api/v1/namespaces/${ns}/secrets`, { body: { metadata: { name: "free" } } });
  const paramRef = { selector: {}, parameterNotFoundAction: "Deny" };
  const binding = { policyName: "limited", validationActions: ["Deny"], paramRef };
  await must(201, "POST", bindings, { body: { metadata: { name: "limited" }, spec: binding } });
  await verdict(/^failed to configure policy: failed to find resource referenced by paramKind/);
  const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
  const names = { plural: "limits", singular: "limit", kind: "Limit", listKind: "LimitList" };
  const schema = { openAPIV3Schema: { type: "object" } };
  const version = { name: "v1", served: true, storage: true, schema };
  await must(201, "POST", definitions, {
    body: {
      metadata: { name: "limits.limits.example" },
      spec: { group: "limits.example", scope: "Cluster", names, versions: [version] },
    },
  });
  await verdict(/^failed to configure binding: no params found/);
  await must(200, "DELETE", `${definitions}/limits.limits.example`);
  while ((await ask("GET", "/apis/limits.example/v1/limits")).status !== 404) await place();
  await verdict(/^failed to configure binding: no params found/);
});

test("by default a server serves only the version of release 1.27", async () => {
  const plain = await serve({ flags: [`--runtime-config=api/all=true`] });
  const { at } = await plain.must(200, "GET", `/apis/${group}`);
  assert.deepEqual(each(at("versions"), "version"), ["v1", "v1alpha1"]);
  const { json } = await plain.must(200, "GET", `/apis/${group}/v1`);
  assert.doesNotMatch(JSON.stringify(json), /validatingadmissionpolicies/);
});
