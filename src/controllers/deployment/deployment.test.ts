import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { replicaSetController } from "../replica-set.ts";
import { deploymentController } from "./deployment.ts";

const namespace = "default";
const draft = (image: string) => ({
  metadata: { name: "web", namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image }] } },
  },
});

test(
  "a deployment makes a replica set, its pods, and another set for another template",
  { timeout: 30_000 },
  () =>
    withController([deploymentController, replicaSetController], async ({ client }) => {
      const deployments = client.of(kinds.deployments);
      await deployments.create(draft("one") as never);
      const pods = await until(async () => {
        const { items } = await client.of(kinds.pods).list({ namespace });
        return items.length === 2 && items;
      });
      assert.match(pods[0]!.metadata.name!, /^web-[a-z0-9]+-[a-z0-9]{5}$/);
      const revised = await until(async () => {
        const found = await deployments.get("web", { namespace });
        return found.metadata.annotations && found.status.observedGeneration === 1 && found;
      });
      assert.equal(revised.metadata.annotations?.["deployment.orch.io/revision"], "1");
      await deployments.patch(
        "web",
        "merge",
        { spec: { template: { spec: { containers: [{ name: "c", image: "two" }] } } } },
        { namespace },
      );
      const sets = await until(async () => {
        const { items } = await client.of(kinds.replicaSets).list({ namespace });
        return items.length === 2 && items;
      });
      assert.deepEqual(
        sets
          .map(({ metadata }) => metadata.annotations?.["deployment.orch.io/revision"] ?? "")
          .toSorted((x, y) => (x < y ? -1 : 1)),
        ["1", "2"],
      );
    }),
);
