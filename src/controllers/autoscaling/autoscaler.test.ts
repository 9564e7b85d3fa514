import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { autoscalerController } from "./autoscaler.ts";

test("a new autoscaler is looked at after one period, not at once", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const began = clock.now();
  await withController(
    (context) => autoscalerController(context),
    async ({ client }) => {
      const resource = client.of(kinds.horizontalPodAutoscalers);
      await resource.create({
        metadata: { name: "web", namespace: "default" },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" }, maxReplicas: 3 },
      });
      const status = await until(async () => {
        await clock.advance(1000);
        const found = await resource.get("web", { namespace: "default" });
        return found.status?.conditions && found.status;
      });
      assert.equal(status.conditions?.[0]?.reason, "FailedGetScale");
      assert.ok(clock.now() - began >= 15_000, `after ${clock.now() - began} ms`);
    },
    clock,
  );
});
