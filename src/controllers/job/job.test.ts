import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { withTimedController } from "../cluster.fixture.ts";
import { jobController } from "./job.ts";

const namespace = "default";

test("a job's pod keeps the finalizer until it is counted, then the job is complete", () =>
  withTimedController(jobController, async ({ client, until }) => {
    const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
    await jobs.create({
      metadata: { name: "j", namespace },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    } as never);
    const pod = await until(async () => (await pods.list({ namespace })).items[0]);
    assert.deepEqual(pod.metadata.finalizers, ["batch.orch.io/job-tracking"]);
    await pods.patch(
      pod.metadata.name!,
      "merge",
      { status: { phase: "Succeeded" } },
      { namespace, subresource: "status" },
    );
    const done = await until(async () => {
      const job = await jobs.get("j", { namespace });
      return job.status.completionTime ? job : undefined;
    });
    assert.deepEqual(
      [done.status.succeeded, done.status.conditions?.map(({ type }) => type)],
      [1, ["Complete"]],
    );
    assert.equal((await pods.get(pod.metadata.name!, { namespace })).metadata.finalizers, undefined);
  }));

test("while a failed pod is waiting to be replaced, the status counts no active pods", () =>
  withTimedController(jobController, async ({ client, until }) => {
    const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    await jobs.create({
      metadata: { name: "j", namespace },
      spec: { template, parallelism: 2, completions: 2 },
    } as never);
    const [first] = await until(async () => {
      const { items } = await pods.list({ namespace });
      return items.length === 2 && items;
    });
    await pods.patch(
      first!.metadata.name!,
      "merge",
      { status: { phase: "Failed" } },
      { namespace, subresource: "status" },
    );
    const { status } = await until(async () => {
      const job = await jobs.get("j", { namespace });
      return job.status.failed === 1 && job;
    });
    assert.equal(status.active ?? 0, 0);
    assert.equal((await pods.list({ namespace })).items.length, 2);
  }));

test("indexes beyond a reduced number of completions are no longer counted", () =>
  withTimedController(jobController, async ({ client, until }) => {
    const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    await jobs.create({
      metadata: { name: "j", namespace },
      spec: { template, parallelism: 3, completions: 3, completionMode: "Indexed" },
    } as never);
    const last = await until(async () => {
      const { items } = await pods.list({ namespace });
      return items.find(({ metadata }) => metadata.name!.startsWith("j-2-"));
    });
    const status = { phase: "Succeeded" };
    await pods.patch(last.metadata.name!, "merge", { status }, { namespace, subresource: "status" });
    await until(async () => (await jobs.get("j", { namespace })).status.completedIndexes === "2");
    await jobs.patch("j", "merge", { spec: { completions: 2, parallelism: 2 } }, { namespace });
    const counted = await until(async () => {
      const job = await jobs.get("j", { namespace });
      return job.status.completedIndexes === undefined && job;
    });
    assert.equal(counted.status.succeeded, undefined);
  }));
