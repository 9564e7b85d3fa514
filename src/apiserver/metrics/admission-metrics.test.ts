import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdmissionAttributes, type AdmissionPlugin, WriteState, admissionChain } from "#admission";
import { createMetrics, forbidden, invalidValue } from "#base";
import { admissionMetrics } from "./admission-metrics.ts";

const picky: AdmissionPlugin = {
  name: "Picky",
  handles: ["CREATE"],
  mutate: ({ name }) => {
    if (name === "refused") throw forbidden({ group: "", resource: "pods" }, name, "no");
    return undefined;
  },
  validate: async ({ name }) => (name === "bad" ? [invalidValue("spec", "", "wrong")] : []),
};
const attributes = (name: string): AdmissionAttributes =>
  ({
    operation: "CREATE",
    name,
    resource: { group: "", version: "v1", resource: "pods" },
    kind: { group: "", version: "v1", kind: "Pod" },
    state: new WriteState(),
  }) as AdmissionAttributes;

const countsOf = (text: string, metric: string): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith(`apiserver_admission_${metric}_count{`))
    .map((line) => line.replace(/^[^{]*/, ""))
    .toSorted();

test("each plug-in and each step is measured by operation and outcome", async () => {
  const metrics = createMetrics();
  const chain = admissionChain([picky], admissionMetrics(metrics));
  await chain.mutate(attributes("good"));
  await chain.mutate(attributes("good"));
  await assert.rejects(chain.mutate(attributes("refused")), /no/);
  await chain.validate(attributes("good"));
  await assert.rejects(chain.validate(attributes("bad")), /wrong/);
  const text = metrics.expose();
  assert.deepEqual(countsOf(text, "controller_admission_duration_seconds"), [
    '{name="Picky",operation="CREATE",rejected="false",type="admit"} 2',
    '{name="Picky",operation="CREATE",rejected="false",type="validate"} 1',
    '{name="Picky",operation="CREATE",rejected="true",type="admit"} 1',
    '{name="Picky",operation="CREATE",rejected="true",type="validate"} 1',
  ]);
  const steps = [
    '{operation="CREATE",rejected="false",type="admit"} 2',
    '{operation="CREATE",rejected="false",type="validate"} 1',
    '{operation="CREATE",rejected="true",type="admit"} 1',
    '{operation="CREATE",rejected="true",type="validate"} 1',
  ];
  assert.deepEqual(countsOf(text, "step_admission_duration_seconds"), steps);
  assert.deepEqual(countsOf(text, "step_admission_duration_seconds_summary"), steps);
});
