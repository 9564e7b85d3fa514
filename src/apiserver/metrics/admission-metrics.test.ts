import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionAttributes, AdmissionPlugin } from "#admission";
import { createMetrics, forbidden, invalidValue } from "#base";
import { measuredPlugins } from "./admission-metrics.ts";

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
