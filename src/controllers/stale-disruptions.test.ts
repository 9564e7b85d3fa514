import assert from "node:assert/strict";
import { test } from "node:test";
import { timeOfMillis, virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { until, withController } from "./cluster.fixture.ts";
import { staleDisruptionsController } from "./stale-disruptions.ts";

const namespace = "default";
const byAgent = `TerminationBy${dialects.orch.spelling.word("NodeAgent")}`;

test("the condition of an announced disruption is reset if the pod is not deleted within two minutes", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const began = clock.now();
  await withController(
    staleDisruptionsController,
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      const announced = [
        ["stale", "EvictionByEvictionAPI", "Running"],
        ["by-agent", byAgent, "Running"],
        ["over", "EvictionByEvictionAPI", "Failed"],
      ] as const;
      for (const [name, reason, phase] of announced) {
        await pods.create({
          metadata: { name, namespace },
          spec: { containers: [{ name: "c", image: "i", resources: {} }] },
        });
        const condition = { type: "DisruptionTarget", status: "True", reason, message: "m", lastTransitionTime: timeOfMillis(began) }; // prettier-ignore
        const status = { phase, conditions: [condition] };
        await pods.patch(name, "strategic", { status }, { namespace, subresource: "status" });
      }
      const conditionOf = async (name: string) =>
        (await pods.get(name, { namespace })).status.conditions?.find(
          ({ type }) => type === "DisruptionTarget",
        );
      const withdrawn = await until(async () => {
        await clock.advance(10_000);
        const condition = await conditionOf("stale");
        return condition?.status === "False" && condition;
      });
      assert.ok(clock.now() - began >= 120_000, `after ${clock.now() - began} ms`);
      assert.equal(withdrawn.reason ?? "", "");
      assert.equal(withdrawn.message ?? "", "");
      for (const name of ["by-agent", "over"]) assert.equal((await conditionOf(name))?.status, "True", name);
    },
    clock,
  );
});
