import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kinds } from "#client";
import { isDeleted, until, withController } from "../cluster.fixture.ts";
import { createClaim, withProvisioner } from "./local-path.fixture.ts";
import { ensureLocalPathClass } from "./local-path.ts";

const namespace = "default";

test("the storage class is the default, waits for pods, and is created once", () =>
  withController([], async ({ client }) => {
    await ensureLocalPathClass(client, "n1");
    await ensureLocalPathClass(client, "n1");
    const { items } = await client.of(kinds.storageClasses).list();
    assert.deepEqual(
      items.map(({ metadata, volumeBindingMode, reclaimPolicy }) => ({
        name: metadata.name,
        isDefault: metadata.annotations?.["storageclass.orch.io/is-default-class"],
        volumeBindingMode,
        reclaimPolicy,
      })),
      [
        {
          name: "local-path",
          isDefault: "true",
          volumeBindingMode: "WaitForFirstConsumer",
          reclaimPolicy: "Delete",
        },
      ],
    );
  }));

test("pods that use the storage class are scheduled to the node that makes the volumes, also in older clusters", () =>
  withController([], async ({ client }) => {
    const classes = client.of(kinds.storageClasses);
    const topologies = async () => (await classes.get("local-path")).allowedTopologies;
    const only = (node: string) => [{ matchLabelExpressions: [{ key: "orch.io/hostname", values: [node] }] }];
    await classes.create({
      metadata: { name: "local-path" },
      provisioner: "orch.io/local-path",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    await ensureLocalPathClass(client, "n1");
    assert.deepEqual(await topologies(), only("n1"));
    await ensureLocalPathClass(client, "renamed");
    assert.deepEqual(await topologies(), only("renamed"));
    await classes.delete("local-path");
    await ensureLocalPathClass(client, "n1");
    assert.deepEqual(await topologies(), only("n1"));
    await classes.delete("local-path");
    await classes.create({ metadata: { name: "local-path" }, provisioner: "example.com/other" });
    await ensureLocalPathClass(client, "n1");
    assert.equal(await topologies(), undefined, "the class of another provisioner is left alone");
  }));

test("a claim of this node gets a folder, which is deleted with the claim", () =>
  withProvisioner(async ({ client }, folder) => {
    await ensureLocalPathClass(client, "n1");
    const claims = client.of(kinds.persistentVolumeClaims);
    await createClaim(client, "elsewhere", "n2");
    const { metadata } = await createClaim(client, "data", "n1");
    const name = `pvc-${metadata.uid}`;
    await until(async () => (await claims.get("data", { namespace })).status.phase === "Bound");
    const { spec } = await client.of(kinds.persistentVolumes).get(name);
    assert.equal(spec.local?.path, join(folder, name));
    assert.deepEqual(spec.nodeAffinity?.required?.nodeSelectorTerms, [
      { matchExpressions: [{ key: "orch.io/hostname", operator: "In", values: ["n1"] }] },
    ]);
    assert.deepEqual(readdirSync(folder), [name], "claims of other nodes are left to them");
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o777);
    writeFileSync(join(folder, name, "file"), "x");
    // Pods can create directories deeper than the longest path.
    const deep = "i=0; while [ $i -lt 600 ]; do mkdir dddddddddd; cd -P dddddddddd 2>&-; i=$((i+1)); done";
    execFileSync("sh", ["-c", deep], { cwd: join(folder, name) });
    await claims.delete("data", { namespace });
    await until(() => isDeleted(client.of(kinds.persistentVolumes).get(name)));
    assert.equal(existsSync(join(folder, name)), false);
  }));

test("a volume with a forged annotation loses no data", () =>
  withProvisioner(async ({ client }, folder) => {
    await ensureLocalPathClass(client, "n1");
    const victim = join(folder, "..", "victim");
    mkdirSync(victim);
    const volumes = client.of(kinds.persistentVolumes);
    const forged = (name: string, path: string) => ({
      metadata: { name, annotations: { "pv.orch.io/provisioned-by": "orch.io/local-path" } },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Delete",
        claimRef: { namespace, name: "none", uid: "11111111-1111-1111-1111-111111111111" },
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "orch.io/hostname", operator: "In", values: ["n1"] }] },
            ],
          },
        },
      },
    });
    await volumes.create(forged("pvc-22222222-2222-2222-2222-222222222222", victim));
    await volumes.create(forged("victim", join(folder, "victim")));
    await until(async () => {
      const { items } = await volumes.list();
      return items.length === 2 && items.every(({ status }) => status.phase === "Released");
    });
    // A claim that is created and deleted shows that the provisioner has observed the others.
    const { metadata } = await createClaim(client, "data", "n1");
    await until(async () => existsSync(join(folder, `pvc-${metadata.uid}`)));
    await client.of(kinds.persistentVolumeClaims).delete("data", { namespace });
    await until(() => isDeleted(volumes.get(`pvc-${metadata.uid}`)));
    assert.equal(existsSync(victim), true);
    assert.equal((await volumes.list()).items.length, 2);
  }));
