import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaim, Pod } from "#api";
import { kinds } from "#client";
import { isDeleted, until, withController } from "../cluster.fixture.ts";
import { claimProtectionController, uses, volumeProtectionController } from "./protection.ts";

const claim = {
  metadata: { name: "p-v", ownerReferences: [{ uid: "u", controller: true }] },
} as unknown as PersistentVolumeClaim;
const named = [{ name: "x", persistentVolumeClaim: { claimName: "p-v" } }];
const made = [{ name: "v", ephemeral: {} }];
const pod = (
  volumes: object[],
  { node = "n", uid = "u", grace }: { node?: string; uid?: string; grace?: number } = {},
): Pod =>
  ({
    metadata: {
      name: "p",
      uid,
      ...(grace !== undefined && {
        deletionTimestamp: "2024-01-01T00:00:00Z",
        deletionGracePeriodSeconds: grace,
      }),
    },
    spec: { nodeName: node, volumes },
  }) as unknown as Pod;
const cases: [name: string, pod: Pod, used: boolean][] = [
  ["a pod on a node uses the claim it names", pod(named), true],
  ["an unscheduled pod does not use a claim", pod(named, { node: "" }), false],
  ["a pod does not use other claims", pod([{ name: "x", persistentVolumeClaim: { claimName: "q" } }]), false],
  ["a pod uses the claim created for it", pod(made), true],
  ["a claim created for another pod of the same name is not used", pod(made, { uid: "w" }), false],
  ["a terminated pod no longer needs the claim created for it", pod(made, { grace: 0 }), false],
  ["a terminating pod still needs it", pod(made, { grace: 30 }), true],
];
for (const [name, given, used] of cases) test(name, () => assert.equal(Boolean(uses(given, claim)), used));

test("a claim is deleted after its last pod, or at once without pods", async () => {
  await withController(claimProtectionController, async ({ client }) => {
    const claims = client.of(kinds.persistentVolumeClaims);
    const pods = client.of(kinds.pods);
    const namespace = "default";
    for (const name of ["used", "free"])
      await claims.create({
        metadata: { name, namespace },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      });
    const spec = {
      nodeName: "n",
      containers: [{ name: "c", image: "i" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "used" } }],
    };
    await pods.create({ metadata: { name: "p", namespace }, spec } as never);
    await claims.delete("used", { namespace });
    await claims.delete("free", { namespace });
    await until(async () => await isDeleted(claims.get("free", { namespace })));
    assert.ok((await claims.get("used", { namespace })).metadata.deletionTimestamp);
    await pods.delete("p", { namespace, graceSeconds: 0 });
    await until(async () => await isDeleted(claims.get("used", { namespace })));
  });
});

test("a volume is deleted once it is no longer bound", async () => {
  await withController(volumeProtectionController, async ({ client }) => {
    const volumes = client.of(kinds.persistentVolumes);
    await volumes.create({
      metadata: { name: "v" },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
    });
    await volumes.patch("v", "merge", { status: { phase: "Bound" } }, { subresource: "status" });
    await volumes.delete("v");
    assert.ok((await volumes.get("v")).metadata.deletionTimestamp);
    await volumes.patch("v", "merge", { status: { phase: "Released" } }, { subresource: "status" });
    await until(async () => await isDeleted(volumes.get("v")));
  });
});
