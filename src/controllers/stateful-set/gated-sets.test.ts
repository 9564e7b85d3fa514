// Feature gates of stateful sets, enabled and disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, kinds } from "#client";
import type { GivenGates } from "#options";
import { until, withController } from "../cluster.fixture.ts";
import { statefulSetController } from "./stateful-set.ts";

const namespace = "default";
const labels = { app: "web" };
const templateOf = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image }] },
});

const withSet = (spec: object, gates: GivenGates, run: (client: ApiClient) => Promise<void>) =>
  withController(
    statefulSetController,
    async ({ client }) => {
      await client.of(kinds.statefulSets).create({
        metadata: { name: "web", namespace },
        spec: { selector: { matchLabels: labels }, serviceName: "web", template: templateOf("i"), ...spec },
      } as never);
      await run(client);
    },
    undefined,
    gates,
  );
const namesOf = async (client: ApiClient): Promise<string[]> =>
  (await client.of(kinds.pods).list({ namespace })).items.map(({ metadata }) => metadata.name!).toSorted();

for (const [isOn, label] of [
  [true, "0"],
  [false, undefined],
] as const)
  test(`a pod has the ordinal ${label ?? "in no label"}, with PodIndexLabel=${isOn}`, () =>
    withSet({}, { PodIndexLabel: isOn }, async (client) => {
      const pod = await until(async () => (await client.of(kinds.pods).list({ namespace })).items[0]);
      assert.equal(pod.metadata.labels?.["apps.orch.io/pod-index"], label);
    }));

for (const [isOn, name] of [
  [true, "web-5"],
  [false, "web-0"],
] as const)
  test(`the first pod is ${name}, with StatefulSetStartOrdinal=${isOn}`, () =>
    withSet({ ordinals: { start: 5 } }, { StatefulSetStartOrdinal: isOn }, async (client) => {
      const names = await until(async () => {
        const found = await namesOf(client);
        return found.length > 0 && found;
      });
      assert.deepEqual(names, [name]);
    }));

for (const [isOn, owners] of [
  [true, ["StatefulSet"]],
  [false, []],
] as const)
  test(`claims ${isOn ? "belong" : "do not belong"} to their set, with StatefulSetAutoDeletePVC=${isOn}`, () =>
    withSet(
      {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
      { StatefulSetAutoDeletePVC: isOn },
      async (client) => {
        const claims = client.of(kinds.persistentVolumeClaims);
        const ownersOf = async () =>
          ((await claims.get("data-web-0", { namespace })).metadata.ownerReferences ?? []).map(
            ({ kind }) => kind,
          );
        // The event is recorded after the last write of the step.
        await until(async () =>
          (await client.of(kinds.events).list({ namespace })).items.some(
            ({ note }) => note === "create Pod web-0 in StatefulSet web successful",
          ),
        );
        if (isOn) await until(async () => (await ownersOf()).length > 0);
        assert.deepEqual(await ownersOf(), owners);
      },
    ));

for (const [isOn, deleted] of [
  [true, ["web-1", "web-2"]],
  [false, ["web-2"]],
] as const)
  test(`an update deletes ${deleted.length} of three pods at once, with MaxUnavailableStatefulSet=${isOn}`, () =>
    withSet(
      {
        replicas: 3,
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } },
        // Deleted pods are kept for a while, so that they can be counted.
        template: { ...templateOf("i"), metadata: { labels, finalizers: ["test.io/keep"] } },
      },
      { MaxUnavailableStatefulSet: isOn },
      async (client) => {
        const [pods, sets] = [client.of(kinds.pods), client.of(kinds.statefulSets)];
        await until(async () => (await namesOf(client)).length === 3);
        const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
        for (const name of await namesOf(client))
          await pods.patch(name, "merge", { status }, { namespace, subresource: "status" });
        await until(async () => (await sets.get("web", { namespace })).status.readyReplicas === 3);
        await sets.patch("web", "merge", { spec: { template: templateOf("j") } }, { namespace });
        const going = async (): Promise<string[]> =>
          (await pods.list({ namespace })).items
            .filter(({ metadata }) => metadata.deletionTimestamp)
            .map(({ metadata }) => metadata.name!)
            .toSorted();
        await until(async () => (await going()).length >= deleted.length);
        // The status of that step is written after its deletions.
        await until(async () => {
          const { status: now } = await sets.get("web", { namespace });
          return now.observedGeneration === 2 && now.updateRevision !== now.currentRevision;
        });
        assert.deepEqual(await going(), deleted);
        for (const name of await namesOf(client))
          await pods.patch(name, "merge", { metadata: { finalizers: null } }, { namespace });
      },
    ));
