import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve, textAt } from "../../server.fixture.ts";

const { must, watch } = await serve({
  dialect: "kubernetes",
  flags: [
    "--feature-gates=ValidatingAdmissionPolicy=true",
    "--runtime-config=admissionregistration.k8s.io/v1alpha1=true",
  ],
});
const policies = "/apis/admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicies";
let count = 0;

const rule = (apiGroup: string, apiVersion: string, ...resources: string[]): Json => ({
  apiGroups: [apiGroup],
  apiVersions: [apiVersion],
  operations: ["*"],
  resources,
});
const deployments = rule("apps", "v1", "deployments");

/** Creates a policy and returns its type checking status. */
async function statusOf(expressions: readonly string[], rules: Json[], more: Json = {}): Promise<Json> {
  const name = `p${++count}`;
  const spec = {
    matchConstraints: { resourceRules: rules },
    validations: expressions.map((expression) => ({ expression })),
    ...more,
  };
  const watching = watch(`${policies}?watch=true&fieldSelector=metadata.name%3D${name}`);
  await must(201, "POST", policies, { body: { metadata: { name }, spec } });
  for (;;) {
    const [frame] = await watching.next(1);
    const { status } = frame!["object"] as { status: Json };
    if (status["observedGeneration"] === undefined) continue;
    watching.stop();
    return status;
  }
}

const cases: [name: string, expression: string, rules: Json[], warning: string | undefined, more?: Json][] = [
  ["correct types cause no warning", "object.spec.replicas > 1", [deployments], undefined],
  [
    "a field that the kind does not have is reported",
    "object.foo == 'bar'",
    [deployments],
    "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'\n | object.foo == 'bar'\n | ......^",
  ],
  [
    "a comparison of different types is reported",
    "object.spec.replicas == '1'",
    [deployments],
    "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'\n" +
      " | object.spec.replicas == '1'\n | .....................^",
  ],
  [
    "objects are named by their paths",
    "oldObject.spec.template == 1",
    [deployments],
    "apps/v1, Kind=Deployment: ERROR: <input>:1:25: found no matching overload for '_==_' applied to '(object.spec.template, int)'\n" +
      " | oldObject.spec.template == 1\n | ........................^",
  ],
  [
    "every kind has a line, in order of group, version and kind; an empty group matches all groups",
    "object.spec.foo == 1",
    [deployments, rule("", "v1", "pods", "services")],
    ["/v1, Kind=Pod", "/v1, Kind=Service", "apps/v1, Kind=Deployment"]
      .map(
        (kind) =>
          `${kind}: ERROR: <input>:1:12: undefined field 'foo'\n | object.spec.foo == 1\n | ...........^`,
      )
      .join("\n"),
  ],
  [
    "an event is checked in both groups",
    "has(object.spec)",
    [rule("", "v1", "events")],
    ["/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]
      .map((kind) => `${kind}: ERROR: <input>:1:4: undefined field 'spec'\n | has(object.spec)\n | ...^`)
      .join("\n"),
  ],
  [
    "wildcards and subresources are not checked",
    "object.foo == 1",
    [rule("*", "v1", "pods"), rule("", "v1", "pods/*")],
    undefined,
  ],
  [
    "kinds without a known schema are not checked",
    "object.foo == 1",
    [rule("apiextensions.k8s.io", "v1", "customresourcedefinitions")],
    undefined,
  ],
  [
    "an int-or-string has any type",
    "object.spec.ports[0].targetPort == 1 || object.spec.ports[0].targetPort == 'a'",
    [rule("", "v1", "services")],
    undefined,
  ],
  [
    "quantities are not known",
    "object.spec.hard.cpu == '1'",
    [rule("", "v1", "resourcequotas")],
    "/v1, Kind=ResourceQuota: ERROR: <input>:1:12: undefined field 'hard'\n | object.spec.hard.cpu == '1'\n | ...........^",
  ],
  [
    "the authorizer is not available",
    "authorizer.group('').resource('pods').check('get').allowed()",
    [deployments],
    "apps/v1, Kind=Deployment: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n" +
      " | authorizer.group('').resource('pods').check('get').allowed()\n | ^",
  ],
  [
    "parameters have the type of their kind",
    "params.foo == 1",
    [deployments],
    "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'\n | params.foo == 1\n | ......^",
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
  ],
  [
    "fields of the parameters are checked with the type of the object",
    "object.data.a == params.data.a",
    [deployments],
    undefined,
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
  ],
  [
    "parameters of an unknown kind have any type",
    "params.foo == 1",
    [deployments],
    undefined,
    { paramKind: { apiVersion: "example.com/v1", kind: "Limit" } },
  ],
];
for (const [name, expression, rules, warning, more] of cases) {
  test(name, async () => {
    const status = await statusOf([expression], rules, more);
    const typeChecking =
      warning === undefined
        ? {}
        : { expressionWarnings: [{ fieldRef: "spec.validations[0].expression", warning }] };
    assert.deepEqual(status, { observedGeneration: 1, typeChecking });
  });
}

test("warnings name their expression, and are removed when it is fixed", async () => {
  const status = await statusOf(["true", "object.foo == 1"], [deployments]);
  assert.equal(
    textAt(status, "typeChecking.expressionWarnings.0.fieldRef"),
    "spec.validations[1].expression",
  );
  const path = `${policies}/p${count}`;
  const watching = watch(`${policies}?watch=true&fieldSelector=metadata.name%3Dp${count}`);
  await must(200, "PATCH", path, {
    type: "application/merge-patch+json",
    body: { spec: { validations: [{ expression: "object.spec.replicas > 1" }] } },
  });
  let seen: Json;
  do [seen] = (await watching.next(1)) as [Json];
  while (textAt(seen, "object.status.observedGeneration") !== "2");
  watching.stop();
  assert.deepEqual((seen["object"] as Json)["status"], { observedGeneration: 2, typeChecking: {} });
});

test("the status is written by the server, as an update of the status", async () => {
  await statusOf(["true"], [deployments]);
  const { json } = await must(200, "GET", `${policies}/p${count}`);
  const { managedFields } = json["metadata"] as { managedFields: Json[] };
  const entry = managedFields.find(({ subresource }) => subresource === "status");
  assert.equal(entry?.["manager"], "kube-apiserver");
  assert.equal(entry["operation"], "Update");
});
