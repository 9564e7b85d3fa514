// Feature gates of jobs, enabled and disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import type { GivenGates } from "#options";
import { type TimedCluster, withTimedController } from "../cluster.fixture.ts";
import { jobController } from "./job.ts";

const namespace = "default";
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const policy = { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] };

const withJob = (spec: object, gates: GivenGates, run: (cluster: TimedCluster) => Promise<void>) =>
  withTimedController(
    jobController,
    async (cluster) => {
      await cluster.client
        .of(kinds.jobs)
        .create({ metadata: { name: "j", namespace }, spec: { template, ...spec } } as never);
      await run(cluster);
    },
    gates,
  );
const firstPod = ({ client, until }: TimedCluster) =>
  until(async () => (await client.of(kinds.pods).list({ namespace })).items[0]);

for (const [isOn, ready] of [
  [true, 0],
  [false, undefined],
] as const)
  test(`a job ${isOn ? "counts" : "does not count"} its ready pods, with JobReadyPods=${isOn}`, () =>
    withJob({}, { JobReadyPods: isOn }, async ({ client, until }) => {
      const { status } = await until(async () => {
        const job = await client.of(kinds.jobs).get("j", { namespace });
        return job.status.active === 1 && job;
      });
      assert.equal(status.ready ?? undefined, ready);
    }));

for (const [isOn, reason] of [
  [true, "PodFailurePolicy"],
  [false, "BackoffLimitExceeded"],
] as const)
  test(`a job fails by ${reason}, with JobPodFailurePolicy=${isOn}`, () =>
    withJob({ podFailurePolicy: policy, backoffLimit: 0 }, { JobPodFailurePolicy: isOn }, async (cluster) => {
      const { client, until } = cluster;
      const pod = await firstPod(cluster);
      const containerStatuses = [{ name: "c", image: "i", state: { terminated: { exitCode: 42 } } }];
      await client
        .of(kinds.pods)
        .patch(
          pod.metadata.name!,
          "merge",
          { status: { phase: "Failed", containerStatuses } },
          { namespace, subresource: "status" },
        );
      const failed = await until(async () => {
        const { status } = await client.of(kinds.jobs).get("j", { namespace });
        return status.conditions?.find(({ type }) => type === "Failed");
      });
      assert.equal(failed.reason, reason);
    }));

for (const [isOn, count] of [
  [true, undefined],
  [false, 1],
] as const)
  test(`a deleted pod of a job with a policy counts ${isOn ? "once it has failed" : "at once"}, with PodDisruptionConditions=${isOn}`, () =>
    withJob({ podFailurePolicy: policy }, { PodDisruptionConditions: isOn }, async (cluster) => {
      const { client, until } = cluster;
      const pod = await firstPod(cluster);
      const [pods, jobs] = [client.of(kinds.pods), client.of(kinds.jobs)];
      const name = pod.metadata.name!;
      const keep = { metadata: { finalizers: ["test.io/keep", ...(pod.metadata.finalizers ?? [])] } };
      await pods.patch(name, "merge", keep, { namespace });
      await pods.delete(name, { namespace, graceSeconds: 30 });
      if (count === undefined) {
        await until(async () => ((await jobs.get("j", { namespace })).status.active ?? 0) === 1);
        const { status } = await jobs.get("j", { namespace });
        assert.equal(status.failed, undefined);
        const failed = { status: { phase: "Failed" } };
        await pods.patch(name, "merge", failed, { namespace, subresource: "status" });
      }
      await until(async () => (await jobs.get("j", { namespace })).status.failed === 1);
      await pods.patch(name, "merge", { metadata: { finalizers: null } }, { namespace });
    }));
