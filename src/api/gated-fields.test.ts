// Fields of later releases, with their gates on and off.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJson } from "#schema";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  JSONSchemaProps,
  Pod,
  gatedFields,
} from "./index.ts";

const pod = JSON.stringify({
  spec: {
    initContainers: [{ name: "proxy", restartPolicy: "Always" }],
    containers: [{ name: "main", lifecycle: { preStop: { sleep: { seconds: 3 } } } }],
  },
});

const cases: [name: string, on: readonly string[], unknown: readonly string[]][] = [
  [
    "a field whose gate is off is an unknown field",
    [],
    ["spec.containers[0].lifecycle.preStop.sleep", "spec.initContainers[0].restartPolicy"],
  ],
  ["a gate adds its own fields only", ["SidecarContainers"], ["spec.containers[0].lifecycle.preStop.sleep"]],
  ["every field is known when all gates are on", ["SidecarContainers", "PodLifecycleSleepAction"], []],
];
for (const [name, on, unknown] of cases) {
  test(name, () => {
    const schema = gatedFields({ isOn: (gate) => on.includes(gate), expressionRelease: 27 })(Pod);
    assert.deepEqual(decodeJson(schema, pod).unknown.toSorted(), unknown);
  });
}

test("a declaration without gated fields is returned unchanged, and equal declarations stay equal", () => {
  const reduce = gatedFields({ isOn: () => false, expressionRelease: 27 });
  assert.equal(reduce(ConfigMap), ConfigMap);
  assert.equal(reduce(Pod), reduce(Pod));
  assert.notEqual(reduce(Deployment), Deployment);
  assert.equal(gatedFields({ isOn: () => true, expressionRelease: 27 })(Pod), Pod);
});

test("fields of a later release are unknown to earlier ones, at any depth of a recursive declaration", () => {
  const rule = { rule: "true", reason: "FieldValueInvalid", optionalOldSelf: true };
  const text = JSON.stringify({ properties: { a: { not: { "x-orch-validations": [rule] } } } });
  const at = "properties.a.not.x-orch-validations[0]";
  const unknown = (expressionRelease: number): string[] =>
    decodeJson(
      gatedFields({ isOn: () => false, expressionRelease })(JSONSchemaProps),
      text,
    ).unknown.toSorted();
  assert.deepEqual(unknown(27), [`${at}.optionalOldSelf`, `${at}.reason`]);
  assert.deepEqual(unknown(28), [`${at}.optionalOldSelf`]);
  assert.deepEqual(unknown(29), []);
});

test("recursive declarations are returned unchanged if nothing is removed", () => {
  const all = gatedFields({ isOn: () => true, expressionRelease: 29 });
  assert.equal(all(JSONSchemaProps), JSONSchemaProps);
  assert.equal(all(CustomResourceDefinition), CustomResourceDefinition);
});
