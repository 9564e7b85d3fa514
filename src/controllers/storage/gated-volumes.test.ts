// Feature gates of volumes, enabled and disabled.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import type { SeenVolume } from "#controllerkit";
import { dialects } from "#dialect";
import { isDeleted, orUndefined, until, withController, withTimedController } from "../cluster.fixture.ts";
import { attachDetachController } from "./attach-detach.ts";
import { attachVolumeInUse } from "./attachment.fixture.ts";
import { volumeBinderController } from "./binder.ts";
import { createClaim, withProvisioner } from "./local-path.fixture.ts";
import { ensureLocalPathClass } from "./local-path.ts";
import { reclaimFinalizers } from "./reclaim-finalizers.ts";

const namespace = "default";
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

for (const [isOn, storageClass] of [
  [true, "late"],
  [false, undefined],
] as const)
  test(`a claim without a class ${isOn ? "gets" : "does not get"} a default class created later, with RetroactiveDefaultStorageClass=${isOn}`, () =>
    withTimedController(
      (context) => volumeBinderController(context),
      async ({ client, until }) => {
        const claims = client.of(kinds.persistentVolumeClaims);
        const events = client.of(kinds.events);
        const isReported = async (name: string): Promise<boolean> =>
          (await events.list({ namespace })).items.some(
            ({ reason, regarding }) => reason === "FailedBinding" && regarding?.name === name,
          );
        await claims.create({ metadata: { name: "c", namespace }, spec: claimSpec });
        await until(() => isReported("c"));
        await client.of(kinds.storageClasses).create({
          metadata: {
            name: "late",
            annotations: { [dialects.orch.names.annotations.defaultStorageClass]: "true" },
          },
          provisioner: "ext.example",
        });
        // A claim that explicitly names no class follows it in the queue.
        await claims.create({
          metadata: { name: "none", namespace },
          spec: { ...claimSpec, storageClassName: "" },
        });
        await until(() => isReported("none"));
        const classOf = async () => (await claims.get("c", { namespace })).spec.storageClassName ?? undefined;
        if (isOn) await until(async () => (await classOf()) !== undefined);
        assert.equal(await classOf(), storageClass);
      },
      { RetroactiveDefaultStorageClass: isOn },
    ));

const { volumeReclaim, externalReclaim } = dialects.kubernetes.names.finalizers;
const kept: [name: string, provisioner: string, policy: string, before: string[], after: string[]][] = [
  ["an in-tree volume", "kubernetes.io/x", "Delete", ["a"], ["a", volumeReclaim]],
  ["a retained volume", "kubernetes.io/x", "Retain", [volumeReclaim], []],
  ["a volume whose driver migration was reverted", "kubernetes.io/x", "Retain", [externalReclaim], []],
  ["a volume migrated to a driver", "kubernetes.io/aws-ebs", "Delete", [volumeReclaim, "a"], ["a"]],
  ["a volume of a driver", "ext.example", "Delete", [externalReclaim], [externalReclaim]],
  ["a volume that was not provisioned", "", "Delete", ["a"], ["a"]],
];
for (const [name, provisioner, policy, before, after] of kept)
  test(`${name} has the finalizers ${after.join(", ") || "(none)"}`, () => {
    const volume = {
      metadata: {
        name: "v",
        finalizers: before,
        annotations: provisioner && { "pv.kubernetes.io/provisioned-by": provisioner },
      },
      spec: { persistentVolumeReclaimPolicy: policy },
    } as unknown as SeenVolume;
    assert.deepEqual(reclaimFinalizers(volume, dialects.kubernetes) ?? before, after);
  });

for (const isOn of [true, false])
  test(`a volume that is deleted before its claim ${isOn ? "takes its folder with it" : "leaves its folder"}, with HonorPVReclaimPolicy=${isOn}`, () =>
    withProvisioner(
      async ({ client }, folder) => {
        await ensureLocalPathClass(client, "n1");
        const [claims, volumes] = [
          client.of(kinds.persistentVolumeClaims),
          client.of(kinds.persistentVolumes),
        ];
        const { metadata } = await createClaim(client, "data", "n1");
        const name = `pvc-${metadata.uid}`;
        await until(async () => (await claims.get("data", { namespace })).status.phase === "Bound");
        const { volumeReclaim: mark, volumeProtection } = dialects.orch.names.finalizers;
        const finalizers = [...(isOn ? [mark] : []), volumeProtection].toSorted();
        await until(async () => {
          const found = (await volumes.get(name)).metadata.finalizers ?? [];
          return JSON.stringify(found.toSorted()) === JSON.stringify(finalizers);
        });
        await volumes.delete(name);
        await claims.delete("data", { namespace });
        await until(() => isDeleted(volumes.get(name)));
        assert.equal(existsSync(join(folder, name)), !isOn);
      },
      { HonorPVReclaimPolicy: isOn },
    ));

for (const isOn of [true, false])
  test(`an out-of-service node ${isOn ? "loses" : "keeps"} volumes in use, with NodeOutOfServiceVolumeDetach=${isOn}`, async () => {
    const clock = virtualClock(Date.now());
    const { annotations: names, taints: taintNames } = dialects.orch.names;
    await withController(
      attachDetachController,
      async ({ client }) => {
        const nodes = client.of(kinds.nodes);
        const attachments = client.of(kinds.volumeAttachments);
        await nodes.create({
          metadata: { name: "n1", annotations: { [names.controllerManagedAttach]: "true" } },
          spec: { taints: [{ key: taintNames.outOfService, value: "x", effect: "NoExecute" }] },
        });
        const name = await attachVolumeInUse(client, "n1");
        if (isOn) return void (await until(() => isDeleted(attachments.get(name))));
        // A node that is not ready has six minutes to unmount.
        for (let minute = 0; minute < 5; minute++) {
          await clock.advance(60_000);
          assert.ok(await orUndefined(attachments.get(name)));
        }
        await until(async () => {
          await clock.advance(60_000);
          return await isDeleted(attachments.get(name));
        });
      },
      clock,
      { NodeOutOfServiceVolumeDetach: isOn },
    );
  });
