// Type checking of policies as in release 1.32: custom kinds and the expressions of messages are checked, too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

interface Warning {
  readonly fieldRef: string;
  readonly warning: string;
}

const group = "stable.example.com";
const policies = "/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies";

const definition: Json = {
  metadata: { name: `crontabs.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "crontabs", singular: "crontab", kind: "CronTab", listKind: "CronTabList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  replicas: { type: "integer" },
                  port: { "x-orch-int-or-string": true },
                  template: {
                    type: "object",
                    "x-orch-embedded-resource": true,
                    "x-orch-preserve-unknown-fields": true,
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
const crontabs = { apiGroups: [group], apiVersions: ["v1"], operations: ["*"], resources: ["crontabs"] };
const deployments = { ...crontabs, apiGroups: ["apps"], resources: ["deployments"] };

/** Creates a policy and returns the warnings of its status. */
async function warningsOf(
  release: string,
  rule: Json,
  validations: readonly Json[],
): Promise<readonly Warning[]> {
  const { must, watch } = await serve({
    flags: [
      "--feature-gates=ValidatingAdmissionPolicy=true",
      "--runtime-config=admissionregistration.orch.io/v1beta1=true",
      `--expression-release=${release}`,
    ],
  });
  await must(201, "POST", "/apis/apiextensions.orch.io/v1/customresourcedefinitions", { body: definition });
  const served = watch("/apis/apiextensions.orch.io/v1/customresourcedefinitions?watch=true");
  for (let isServed = false; !isServed;) {
    const [frame] = await served.next(1);
    const { status } = frame!["object"] as { status?: { conditions?: Json[] } };
    isServed =
      status?.conditions?.some(({ type, status: of }) => type === "Established" && of === "True") ?? false;
  }
  served.stop();
  const watching = watch(`${policies}?watch=true`);
  const spec = { matchConstraints: { resourceRules: [rule] }, validations };
  await must(201, "POST", policies, { body: { metadata: { name: "checked" }, spec } });
  for (;;) {
    const [frame] = await watching.next(1);
    const { status } = frame!["object"] as {
      status: { observedGeneration?: number; typeChecking?: { expressionWarnings?: Warning[] } };
    };
    if (status.observedGeneration === undefined) continue;
    watching.stop();
    return status.typeChecking?.expressionWarnings ?? [];
  }
}

const ofCustomKind = [
  { expression: "object.spec.replicas > '1'" },
  { expression: "object.spec.maxRetries < 10" },
  { expression: "object.spec.port == 1 || object.spec.port == 'a'" },
  { expression: "object.spec.template.kind == 'Pod' && object.spec.template.metadata.name == 'a'" },
];

test("fields of custom kinds are checked from release 1.29 on", async () => {
  assert.deepEqual(await warningsOf("1.28", crontabs, ofCustomKind), []);
  assert.deepEqual(await warningsOf("1.32", crontabs, ofCustomKind), [
    {
      fieldRef: "spec.validations[0].expression",
      warning:
        "stable.example.com/v1, Kind=CronTab: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n" +
        " | object.spec.replicas > '1'\n | .....................^",
    },
    {
      fieldRef: "spec.validations[1].expression",
      warning:
        "stable.example.com/v1, Kind=CronTab: ERROR: <input>:1:12: undefined field 'maxRetries'\n" +
        " | object.spec.maxRetries < 10\n | ...........^",
    },
  ]);
});

test("expressions of messages are checked from release 1.28 on", async () => {
  const validations = [
    { expression: "object.spec.replicas > '1'", messageExpression: "'it has ' + object.spec.replicas" },
    { expression: "true", messageExpression: "'it has ' + string(object.spec.replicas)" },
  ];
  const fields = async (release: string): Promise<string[]> =>
    (await warningsOf(release, deployments, validations)).map(({ fieldRef }) => fieldRef);
  assert.deepEqual(await fields("1.27"), ["spec.validations[0].expression"]);
  assert.deepEqual(await fields("1.28"), [
    "spec.validations[0].expression",
    "spec.validations[0].messageExpression",
  ]);
});
