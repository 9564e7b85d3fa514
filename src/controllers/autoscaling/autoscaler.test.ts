import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import type { GivenGates } from "#options";
import { type TimedCluster, until, withController, withTimedController } from "../cluster.fixture.ts";
import { autoscalerController } from "./autoscaler.ts";

const namespace = "default";

/** Creates a deployment with two replicas, and an autoscaler on it with the given metric. */
async function createTargetAndAutoscaler(client: ApiClient, metric: object): Promise<void> {
  const labels = { app: "web" };
  await client.of(kinds.deployments).create({
    metadata: { name: "web", namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  } as never);
  await client.of(kinds.horizontalPodAutoscalers).create({
    metadata: { name: "web", namespace },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 3,
      metrics: [metric],
    },
  } as never);
}

/**
 * Runs with an autoscaler on a deployment with two replicas and the given metric; time advances while
 * waiting.
 */
async function withAutoscaler(
  metric: object,
  run: (client: ApiClient, until: TimedCluster["until"]) => Promise<void>,
  gates?: GivenGates,
): Promise<void> {
  await withTimedController(
    (context) => autoscalerController(context),
    async ({ client, until }) => {
      await createTargetAndAutoscaler(client, metric);
      await run(client, until);
    },
    gates,
  );
}

test("a new autoscaler is first synced after one period, not immediately", async () => {
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

test("a failed scaling is repeated after each period, with the kinds of half a minute ago", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const began = clock.now();
  const updates: number[] = [];
  let discoveries = 0;
  await withController(
    (context) => {
      const request: ApiClient["request"] = async (method, path, ...rest) => {
        if (path.startsWith("/apis/external.metrics.")) return { items: [{ value: "9" }] };
        if (path === "/apis") discoveries++;
        if (method !== "PUT" || !path.endsWith("/scale"))
          return await context.client.request(method, path, ...rest);
        updates.push((clock.now() - began) / 1000);
        throw new Error("the webhook denied it");
      };
      return autoscalerController({ ...context, client: { ...context.client, request } });
    },
    async ({ client }) => {
      await createTargetAndAutoscaler(client, {
        type: "External",
        external: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "1" } },
      });
      await until(async () => {
        await clock.advance(1000);
        return updates.length >= 20;
      });
      const pauses = updates.slice(1).map((at, index) => at - updates[index]!);
      assert.ok(
        pauses.every((seconds) => seconds >= 15 && seconds < 60),
        `after ${updates.join(", ")} s`,
      );
      assert.ok(discoveries <= updates.length / 2 + 1, `${discoveries} discoveries`);
    },
    clock,
  );
});

test("a target is scaled down after the window also if the clock is set back", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  let value = "2";
  await withController(
    (context) => {
      const request: ApiClient["request"] = async (method, path, ...rest) =>
        path.startsWith("/apis/external.metrics.")
          ? { items: [{ value }] }
          : await context.client.request(method, path, ...rest);
      return autoscalerController({ ...context, client: { ...context.client, request } });
    },
    async ({ client }) => {
      await createTargetAndAutoscaler(client, {
        type: "External",
        external: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "1" } },
      });
      const autoscalers = client.of(kinds.horizontalPodAutoscalers);
      await until(async () => {
        await clock.advance(1000);
        return (await autoscalers.get("web", { namespace })).status?.desiredReplicas === 2;
      });
      value = "1";
      clock.set(clock.now() - 3_600_000);
      const began = clock.now();
      await until(async () => {
        await clock.advance(5000);
        return (await client.of(kinds.deployments).get("web", { namespace })).spec?.replicas === 1;
      });
      const seconds = (clock.now() - began) / 1000;
      assert.ok(seconds >= 270 && seconds < 900, `after ${seconds} s`);
    },
    clock,
  );
});

test("metrics of an API that is not served are reported, and the previous status is kept", () => {
  const metric = { name: "hits" };
  const known = { type: "Pods", pods: { metric, current: { averageValue: "7" } } };
  return withAutoscaler(
    { type: "Pods", pods: { metric, target: { type: "AverageValue", averageValue: "1" } } },
    async (client, until) => {
      const resource = client.of(kinds.horizontalPodAutoscalers);
      const before = { currentMetrics: [known], desiredReplicas: 2, currentReplicas: 2 };
      await resource.patch("web", "merge", { status: before }, { namespace, subresource: "status" });
      const status = await until(async () => {
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
  );
});

for (const [isOn, text] of [
  [
    true,
    /first error is: failed to get c container metric value: failed to get cpu usage: unable to get metrics/,
  ],
  [false, /first error is: ContainerResource metric type is not supported: disabled by the feature gate$/],
] as const)
  test(`container metrics are ${isOn ? "" : "not "}requested, with HPAContainerMetrics=${isOn}`, () => {
    const target = { type: "AverageValue", averageValue: "1" };
    return withAutoscaler(
      { type: "ContainerResource", containerResource: { name: "cpu", container: "c", target } },
      async (client, until) => {
        const event = await until(async () => {
          const { items } = await client.of(kinds.events).list({ namespace });
          return items.find(({ reason }) => reason === "FailedComputeMetricsReplicas");
        });
        assert.match(event.note ?? "", text);
      },
      { HPAContainerMetrics: isOn },
    );
  });
