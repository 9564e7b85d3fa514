// Test fixture: a volume, nodes that it can be attached to, and pods that use it.
import { type ApiClient, kinds } from "#client";
import { dialects } from "#dialect";
import { attachmentName } from "./attach-detach.ts";

const namespace = "default";
const csi = { driver: "d.example.com", volumeHandle: "h" };
export const attachmentOn = (nodeName: string): string =>
  attachmentName(csi.volumeHandle, csi.driver, nodeName);

/** Creates two nodes, and a volume that is bound to a claim. */
export async function prepareVolume(client: ApiClient): Promise<void> {
  const annotations = { [dialects.orch.names.annotations.controllerManagedAttach]: "true" };
  for (const name of ["n1", "n2"])
    await client.of(kinds.nodes).create({ metadata: { name, annotations }, spec: {} });
  const accessModes = ["ReadWriteOnce"];
  const claim = await client.of(kinds.persistentVolumeClaims).create({
    metadata: { name: "c", namespace },
    spec: { accessModes, volumeName: "v", storageClassName: "", resources: { requests: { storage: "1Gi" } } },
  });
  await client.of(kinds.persistentVolumes).create({
    metadata: { name: "v" },
    spec: {
      accessModes,
      capacity: { storage: "1Gi" },
      csi,
      claimRef: { namespace, name: "c", uid: claim.metadata.uid },
    },
  });
}

/** Creates a pod that uses the claim. */
export const createUser = (client: ApiClient, name: string, nodeName: string): Promise<unknown> =>
  client.of(kinds.pods).create({
    metadata: { name, namespace },
    spec: {
      nodeName,
      containers: [{ name: "c", image: "i" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }],
    },
  } as never);

/** Creates the volume and its attachment, and reports the volume as used by the node; returns the attachment's name. */
export async function attachVolumeInUse(client: ApiClient, nodeName: string): Promise<string> {
  const volumesInUse = [`${dialects.orch.names.volumes.csiPrefix}${csi.driver}^h`];
  await client
    .of(kinds.nodes)
    .patch(nodeName, "merge", { status: { volumesInUse } }, { subresource: "status" });
  await client.of(kinds.persistentVolumes).create({
    metadata: { name: "v" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi },
  });
  const name = attachmentOn(nodeName);
  await client.of(kinds.volumeAttachments).create({
    metadata: { name },
    spec: { attacher: csi.driver, nodeName, source: { persistentVolumeName: "v" } },
  });
  return name;
}
