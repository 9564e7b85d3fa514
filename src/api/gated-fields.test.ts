// Fields of later releases, with their gates on and off.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJson } from "#schema";
import { ConfigMap, Deployment, Pod, gatedFields } from "./index.ts";

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
    const schema = gatedFields((gate) => on.includes(gate))(Pod);
    assert.deepEqual(decodeJson(schema, pod).unknown.toSorted(), unknown);
  });
}

test("a declaration without gated fields stays the same, and equal declarations stay equal", () => {
  const reduce = gatedFields(() => false);
  assert.equal(reduce(ConfigMap), ConfigMap);
  assert.equal(reduce(Pod), reduce(Pod));
  assert.notEqual(reduce(Deployment), Deployment);
  assert.equal(gatedFields(() => true)(Pod), Pod);
});
