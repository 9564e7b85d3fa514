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

test(
  "metrics that nobody serves are told, and what was known before stays",
  { timeout: 30_000 },
  async () => {
    const clock = virtualClock(Date.UTC(2030, 0, 1));
    const namespace = "default";
    await withController(
      (context) => autoscalerController(context),
      async ({ client }) => {
        const labels = { app: "web" };
        await client.of(kinds.deployments).create({
          metadata: { name: "web", namespace },
          spec: {
            replicas: 2,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: "c", image: "i", resources: {} }] },
            },
          },
        } as never);
        const resource = client.of(kinds.horizontalPodAutoscalers);
        const known = { type: "Pods", pods: { metric: { name: "hits" }, current: { averageValue: "7" } } };
        await resource.create({
        metadata: { name: "web", namespace },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          maxReplicas: 3,
          metrics: [
            { type: "Pods", pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "1" } } },
          ],
        },
      }); // prettier-ignore
        const before = { currentMetrics: [known], desiredReplicas: 2, currentReplicas: 2 };
        await resource.patch("web", "merge", { status: before }, { namespace, subresource: "status" });
        const status = await until(async () => {
          await clock.advance(1000);
          const found = await resource.get("web", { namespace });
          return found.status?.conditions?.some(({ type }) => type === "ScalingActive") && found.status;
        });
        const condition = status.conditions!.find(({ type }) => type === "ScalingActive");
        assert.equal(
          condition?.message,
          "the HPA was unable to compute the replica count: unable to get metric hits: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.orch.io) registered",
        );
        assert.deepEqual([status.desiredReplicas, status.currentMetrics], [2, [known]]);
      },
      clock,
    );
  },
);

for (const [isOn, text] of [
  [
    true,
    /first error is: failed to get c container metric value: failed to get cpu usage: unable to get metrics/,
  ],
  [false, /first error is: ContainerResource metric type is not supported: disabled by the feature gate$/],
] as const)
  test(
    `metrics of containers are ${isOn ? "" : "not "}asked for, with HPAContainerMetrics=${isOn}`,
    { timeout: 30_000 },
    async () => {
      const clock = virtualClock(Date.UTC(2030, 0, 1));
      const namespace = "default";
      await withController(
        (context) => autoscalerController(context),
        async ({ client }) => {
          const labels = { app: "web" };
          await client.of(kinds.deployments).create({
            metadata: { name: "web", namespace },
            spec: {
              replicas: 2,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
            },
          } as never);
          const target = { type: "AverageValue", averageValue: "1" };
          await client.of(kinds.horizontalPodAutoscalers).create({
            metadata: { name: "web", namespace },
            spec: {
              scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
              maxReplicas: 3,
              metrics: [
                { type: "ContainerResource", containerResource: { name: "cpu", container: "c", target } },
              ],
            },
          });
          const event = await until(async () => {
            await clock.advance(1000);
            const { items } = await client.of(kinds.events).list({ namespace });
            return items.find(({ reason }) => reason === "FailedComputeMetricsReplicas");
          });
          assert.match(event.note ?? "", text);
        },
        clock,
        { HPAContainerMetrics: isOn },
      );
    },
  );
