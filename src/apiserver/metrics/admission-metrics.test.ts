import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionAttributes, AdmissionPlugin } from "#admission";
import { createMetrics, forbidden, invalidValue } from "#base";
import { measuredChain, measuredPlugins } from "./admission-metrics.ts";

test("each plugin is measured by operation, type and whether it refused", async () => {
  const metrics = createMetrics();
  const plugin: AdmissionPlugin = {
    name: "Picky",
    handles: ["CREATE"],
    mutate: async () => {
      throw forbidden({ group: "", resource: "pods" }, "a", "no");
    },
    validate: async ({ name }) => (name === "bad" ? [invalidValue("spec", "", "wrong")] : []),
  };
  const [measured] = measuredPlugins([plugin], metrics);
  const attributes = (name: string) => ({ operation: "CREATE", name }) as AdmissionAttributes;
  await assert.rejects(measured!.mutate!(attributes("a")), /no/);
  assert.deepEqual(await measured!.validate!(attributes("good")), []);
  assert.equal((await measured!.validate!(attributes("bad"))).length, 1);
  const counts = metrics
    .expose()
    .split("\n")
    .filter((line) => line.includes("_seconds_count{"))
    .map((line) => line.replace(/^[^{]*/, ""));
  assert.deepEqual(counts.toSorted(), [
    '{name="Picky",operation="CREATE",rejected="false",type="validate"} 1',
    '{name="Picky",operation="CREATE",rejected="true",type="admit"} 1',
    '{name="Picky",operation="CREATE",rejected="true",type="validate"} 1',
  ]);
});

test("the steps of admission are measured as a whole", async () => {
  const metrics = createMetrics();
  const chain = measuredChain(
    {
      plugins: [],
      mutate: async () => undefined,
      validate: () => Promise.reject(new Error("no")),
    },
    metrics,
  );
  const attributes = { operation: "UPDATE" } as AdmissionAttributes;
  await chain.mutate(attributes);
  await assert.rejects(chain.validate(attributes));
  const text = metrics.expose();
  assert.match(
    text,
    /step_admission_duration_seconds_count\{type="admit",operation="UPDATE",rejected="false"\} 1/,
  );
  assert.match(text, /seconds_summary_count\{type="validate",operation="UPDATE",rejected="true"\} 1/);
});
