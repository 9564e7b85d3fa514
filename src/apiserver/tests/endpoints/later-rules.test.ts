// Rules of validation that later releases change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

const core = "/api/v1/namespaces/default";
const withoutAccounts = "--disable-admission-plugins=ServiceAccount";
const podWith = (env: Json[], prefix?: string): Json => ({
  metadata: { generateName: "p-" },
  spec: {
    containers: [
      { name: "c", image: "i", env, ...(prefix && { envFrom: [{ prefix, configMapRef: { name: "m" } }] }) },
    ],
  },
});

const names: [name: string, before: number, since: number][] = [
  ["my.env-NAME", 201, 201],
  ["1:a b/%", 422, 201],
  ["a=b", 422, 422],
  ["é", 422, 422],
  ["a\tb", 422, 422],
];
for (const [name, before, since] of names)
  test(`an environment variable called ${JSON.stringify(name)} gets ${since}, and ${before} before 1.32`, async () => {
    for (const [release, status] of [
      ["1.31", before],
      ["1.32", since],
    ] as const) {
      const { must } = await serve({ flags: [`--release=${release}`, withoutAccounts] });
      await must(status, "POST", `${core}/pods`, { body: podWith([{ name, value: "x" }]) });
      await must(status, "POST", `${core}/pods`, { body: podWith([], name) });
    }
  });

test("only load balancers have their ingress addresses, except where a gate permits others", async () => {
  const type = "application/merge-patch+json";
  const body = { status: { loadBalancer: { ingress: [{ hostname: "a.example" }] } } };
  const spec = { ports: [{ port: 80 }] };
  const gate = "--feature-gates=AllowServiceLBStatusOnNonLB=true";
  for (const [flags, status] of [
    [["--release=1.28"], 200],
    [["--release=1.29"], 422],
    [["--release=1.29", gate], 200],
  ] as const) {
    const { must } = await serve({ flags });
    await must(201, "POST", `${core}/services`, { body: { metadata: { name: "plain" }, spec } });
    await must(201, "POST", `${core}/services`, {
      body: { metadata: { name: "balanced" }, spec: { ...spec, type: "LoadBalancer" } },
    });
    const answer = await must(status, "PATCH", `${core}/services/plain/status`, { type, body });
    if (status === 422)
      assert.match(String(answer.at("message")), /may only be used when `spec\.type` is 'LoadBalancer'/);
    await must(200, "PATCH", `${core}/services/balanced/status`, { type, body });
  }
});

test("with strict costs, expressions of policies and webhooks can make two authorizer checks", async () => {
  const group = "/apis/admissionregistration.orch.io/v1";
  const check = "authorizer.group('').resource('pods').check('get').allowed()";
  const policy = {
    metadata: { name: "p" },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
        ],
      },
      validations: [{ expression: `[1, 2, 3].all(n, ${check})` }],
    },
  };
  const binding = { metadata: { name: "b" }, spec: { policyName: "p", validationActions: ["Deny"] } };
  for (const [release, status] of [
    ["1.31", 201],
    ["1.32", 422],
  ] as const) {
    const { must } = await serve({ flags: [`--release=${release}`] });
    await must(201, "POST", `${group}/validatingadmissionpolicies`, { body: policy });
    await must(201, "POST", `${group}/validatingadmissionpolicybindings`, { body: binding });
    const answer = await must(status, "POST", `${core}/configmaps`, { body: { metadata: { name: "m" } } });
    if (status === 422) assert.match(String(answer.at("message")), /cost limit exceeded/);
  }
});
