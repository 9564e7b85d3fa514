// Test fixture: the local path provisioner on node n1, with the binder and protection controllers.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiClient, kinds } from "#client";
import type { GivenGates } from "#options";
import { type TestCluster, withController } from "../cluster.fixture.ts";
import { volumeBinderController } from "./binder.ts";
import { localPathProvisioner } from "./local-path.ts";
import { claimProtectionController, volumeProtectionController } from "./protection.ts";

export async function withProvisioner(
  run: (cluster: TestCluster, folder: string) => Promise<void>,
  gates?: GivenGates,
): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "local-path-"));
  const folder = join(base, "volumes");
  try {
    await withController(
      [
        (context) => localPathProvisioner(context, { nodeName: "n1", folder }),
        (context) => volumeBinderController(context),
        claimProtectionController,
        volumeProtectionController,
      ],
      (cluster) => run(cluster, folder),
      undefined,
      gates,
    );
  } finally {
    rmSync(base, { recursive: true });
  }
}

/** Creates a claim for which the scheduler has selected a node. */
export const createClaim = (client: ApiClient, name: string, node: string) =>
  client.of(kinds.persistentVolumeClaims).create({
    metadata: { name, namespace: "default", annotations: { "volume.orch.io/selected-node": node } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
