// Test fixture: a volume that is attached to a node and in use there.
import { type ApiClient, kinds } from "#client";
import { dialects } from "#dialect";
import { attachmentName } from "./attach-detach.ts";

/** Creates the volume and its attachment, and reports the volume as used by the node; returns the attachment's name. */
export async function attachVolumeInUse(client: ApiClient, nodeName: string): Promise<string> {
  const csi = { driver: "d.example.com", volumeHandle: "h" };
  const volumesInUse = [`${dialects.orch.names.volumes.csiPrefix}${csi.driver}^h`];
  await client
    .of(kinds.nodes)
    .patch(nodeName, "merge", { status: { volumesInUse } }, { subresource: "status" });
  await client.of(kinds.persistentVolumes).create({
    metadata: { name: "v" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi },
  });
  const name = attachmentName(csi.volumeHandle, csi.driver, nodeName);
  await client.of(kinds.volumeAttachments).create({
    metadata: { name },
    spec: { attacher: csi.driver, nodeName, source: { persistentVolumeName: "v" } },
  });
  return name;
}
