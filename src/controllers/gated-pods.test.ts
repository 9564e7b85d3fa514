// Feature gates of the controllers that delete pods, enabled and disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { until, withController, withTimedController } from "./cluster.fixture.ts";
import { podGcController } from "./pod-gc.ts";
import { taintEvictionController } from "./taint-eviction.ts";

const namespace = "default";
const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
const metadata = { name: "a", namespace, finalizers: ["test.io/keep"] };
const release = { metadata: { finalizers: null } };

for (const [isOn, phase, reasons] of [
  [true, "Failed", ["DeletionByPodGC"]],
  [false, "Pending", []],
] as const)
  test(`a pod of a deleted node is ${phase} when it is deleted, with PodDisruptionConditions=${isOn}`, () =>
    withTimedController(
      podGcController,
      async ({ client, until: untilInTime }) => {
        const pods = client.of(kinds.pods);
        await pods.create({ metadata, spec } as never);
        const going = await untilInTime(async () => {
          const pod = await pods.get("a", { namespace });
          return pod.metadata.deletionTimestamp ? pod : undefined;
        });
        const targets = (going.status.conditions ?? []).filter(({ type }) => type === "DisruptionTarget");
        assert.deepEqual([going.status.phase, targets.map(({ reason }) => reason)], [phase, reasons]);
        await pods.patch("a", "merge", release, { namespace });
      },
      { PodDisruptionConditions: isOn },
    ));

for (const isOn of [true, false])
  test(`a pod terminating on an out-of-service node is ${isOn ? "" : "not "}force-deleted, with NodeOutOfServiceVolumeDetach=${isOn}`, async () => {
    const clock = virtualClock(Date.now());
    const taints = [{ key: dialects.orch.names.taints.outOfService, value: "x", effect: "NoExecute" }];
    await withController(
      podGcController,
      async ({ client }) => {
        const pods = client.of(kinds.pods);
        await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: { taints } });
        await pods.create({ metadata, spec } as never);
        await pods.delete("a", { namespace, graceSeconds: 30 });
        // An unscheduled pod is deleted in the same round; its deletion shows that the round is over.
        await pods.create({
          metadata: { ...metadata, name: "b" },
          spec: { containers: spec.containers },
        } as never);
        await pods.delete("b", { namespace, graceSeconds: 30 });
        const phaseOf = async (name: string) => (await pods.get(name, { namespace })).status.phase;
        for (let round = 0; round < 2; round++)
          await until(async () => {
            await clock.advance(20_000);
            return (await phaseOf("b")) === "Failed";
          });
        if (isOn) await until(async () => (await phaseOf("a")) === "Failed");
        else assert.equal(await phaseOf("a"), "Pending");
        for (const name of ["a", "b"]) await pods.patch(name, "merge", release, { namespace });
      },
      clock,
      { NodeOutOfServiceVolumeDetach: isOn },
    );
  });

for (const [isOn, reasons] of [
  [true, ["DeletionByTaintManager"]],
  [false, []],
] as const)
  test(`a pod evicted by a taint ${isOn ? "gets" : "does not get"} the reason as a condition, with PodDisruptionConditions=${isOn}`, () =>
    withController(
      taintEvictionController,
      async ({ client }) => {
        const pods = client.of(kinds.pods);
        await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: {} });
        await client
          .of(kinds.nodes)
          .patch("n1", "merge", { spec: { taints: [{ key: "bad", effect: "NoExecute" }] } });
        await pods.create({ metadata, spec } as never);
        const going = await until(async () => {
          const pod = await pods.get("a", { namespace });
          return pod.metadata.deletionTimestamp ? pod : undefined;
        });
        const targets = (going.status.conditions ?? []).filter(({ type }) => type === "DisruptionTarget");
        assert.deepEqual(
          targets.map(({ reason }) => reason),
          reasons,
        );
        await pods.patch("a", "merge", release, { namespace });
      },
      undefined,
      { PodDisruptionConditions: isOn },
    ));
