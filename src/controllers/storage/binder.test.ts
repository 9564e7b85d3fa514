import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { volumeBinderController } from "./binder.ts";

const namespace = "default";
const volume = (name: string, storage: string) => ({
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ["ReadWriteOnce"],
    storageClassName: "sc",
    hostPath: { path: `/srv/${name}` },
    persistentVolumeReclaimPolicy: "Retain",
  },
});

test(
  "a claim takes the smallest volume that fits, and a released volume is not bound again",
  { timeout: 30_000 },
  () =>
    withController(volumeBinderController, async ({ client }) => {
      const [volumes, claims] = [client.of(kinds.persistentVolumes), client.of(kinds.persistentVolumeClaims)];
      for (const [name, size] of [
        ["big", "10Gi"],
        ["fit", "2Gi"],
        ["small", "1Gi"],
      ] as const)
        await volumes.create(volume(name, size));
      const phase = async (name: string, wanted: string) =>
        until(async () => (await volumes.get(name)).status.phase === wanted);
      await phase("fit", "Available");
      const spec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "sc",
        resources: { requests: { storage: "2Gi" } },
      };
      await claims.create({ metadata: { name: "c", namespace }, spec });
      const bound = await until(async () => {
        const claim = await claims.get("c", { namespace });
        return claim.status.phase === "Bound" && claim;
      });
      assert.deepEqual(
        [bound.spec.volumeName, bound.metadata.annotations?.["pv.orch.io/bind-completed"]],
        ["fit", "yes"],
      );
      await claims.patch("c", "merge", { metadata: { finalizers: null } }, { namespace });
      await claims.delete("c", { namespace });
      await phase("fit", "Released");
    }),
);
