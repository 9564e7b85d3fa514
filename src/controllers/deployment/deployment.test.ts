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

test("a deployment creates a replica set and its pods, and another set for another template", () =>
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
  }));

test("the rollback annotation rolls a deployment back and is removed", () =>
  withController([deploymentController, replicaSetController], async ({ client }) => {
    const deployments = client.of(kinds.deployments);
    const rollback = client.dialect.names.annotations.deprecatedRollbackTo;
    const imageOf = async () => {
      const { metadata, spec } = await deployments.get("web", { namespace });
      return metadata.annotations?.[rollback] === undefined && spec.template.spec.containers?.[0]?.image;
    };
    const revision = async () =>
      (await deployments.get("web", { namespace })).metadata.annotations?.["deployment.orch.io/revision"];
    await deployments.create(draft("one") as never);
    await until(async () => (await revision()) === "1");
    const { spec } = draft("two");
    await deployments.patch("web", "merge", { spec: { template: spec.template } }, { namespace });
    await until(async () => (await revision()) === "2");
    const metadata = { annotations: { [rollback]: "1" } };
    await deployments.patch("web", "merge", { metadata }, { namespace });
    await until(async () => (await imageOf()) === "one");
    await until(async () => (await revision()) === "3");
  }));

test("a set of the right size keeps its annotations when only the surge changes", () =>
  withController([deploymentController, replicaSetController], async ({ client }) => {
    const deployments = client.of(kinds.deployments);
    await deployments.create(draft("one") as never);
    const maxOf = async () => {
      const [set] = (await client.of(kinds.replicaSets).list({ namespace })).items;
      return set?.metadata.annotations?.["deployment.orch.io/max-replicas"];
    };
    await until(async () => (await maxOf()) === "3");
    const strategy = { rollingUpdate: { maxSurge: 4 } };
    await deployments.patch("web", "merge", { spec: { strategy } }, { namespace });
    await until(async () => (await deployments.get("web", { namespace })).status.observedGeneration === 2);
    assert.equal(await maxOf(), "3");
  }));
