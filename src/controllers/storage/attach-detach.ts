// Asks drivers to attach volumes to the nodes of the pods that use them, and to detach them afterwards.
import { createHash } from "node:crypto";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SeenVolume,
  ignoreReasons,
  isAlreadyExists,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type SeenPod, isFinished } from "../pods.ts";

interface Wanted {
  readonly volume: SeenVolume;
  readonly pods: readonly SeenPod[];
}

export const attachmentName = (handle: string, driver: string, node: string): string =>
  `csi-${createHash("sha256").update(`${handle}${driver}${node}`).digest("hex")}`;

export function attachDetachController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const { annotations, volumes: volumeNames } = dialect.names;
  const events = recorderFor(context, "attachdetach-controller");
  const attachmentClient = client.of(kinds.volumeAttachments);
  const queue = queueFor(context, "attachdetach", sync);
  const pods = view.follow(kinds.pods, ({ object }) => {
    if (object.spec.nodeName && object.spec.volumes?.length) queue.add(object.spec.nodeName);
  });
  const onNode = pods.index("node", ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  const nodes = view.follow(kinds.nodes, ({ object }) => queue.add(object.metadata.name!));
  const claims = view.follow(kinds.persistentVolumeClaims, ({ object }) => {
    for (const pod of pods.inNamespace(object.metadata.namespace!))
      if (pod.spec.nodeName && claimsOf(pod).includes(object.metadata.name!)) queue.add(pod.spec.nodeName);
  });
  const volumes = view.follow(kinds.persistentVolumes);
  const drivers = view.follow(kinds.csiDrivers);
  const attachments = view.follow(kinds.volumeAttachments, ({ object }) => queue.add(object.spec.nodeName));
  const ofNode = attachments.index("node", ({ spec }) => [spec.nodeName]);
  return { stopped: queue.stopped };

  function claimsOf({ metadata, spec }: SeenPod): string[] {
    return (spec.volumes ?? []).flatMap(
      ({ name, persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : []),
    );
  }

  /** The volumes that pods of a node need attached, by the name of the attachment. */
  function wantedOn(nodeName: string): Map<string, Wanted> {
    const wanted = new Map<string, { volume: SeenVolume; pods: SeenPod[] }>();
    for (const pod of onNode(nodeName)) {
      if (isFinished(pod)) continue;
      for (const name of claimsOf(pod)) {
        const claim = claims.get(pod.metadata.namespace, name);
        const volume = claim?.spec.volumeName ? volumes.get(undefined, claim.spec.volumeName) : undefined;
        const csi = volume?.spec.csi;
        if (!volume || !csi || volume.spec.claimRef?.uid !== claim?.metadata.uid) continue;
        if (drivers.get(undefined, csi.driver)?.spec.attachRequired === false) continue;
        const key = attachmentName(csi.volumeHandle, csi.driver, nodeName);
        const entry = wanted.get(key) ?? { volume, pods: [] };
        wanted.set(key, entry);
        entry.pods.push(pod);
      }
    }
    return wanted;
  }

  async function sync(nodeName: string): Promise<void> {
    const node = nodes.get(undefined, nodeName);
    const wanted = wantedOn(nodeName);
    const present = ofNode(nodeName).filter(({ metadata }) => metadata.name!.startsWith("csi-"));
    const isManaged = node?.metadata.annotations?.[annotations.controllerManagedAttach] === "true";
    if (node && isManaged) for (const [name, { volume }] of wanted) await attach(name, volume, nodeName);
    const inUse = new Set(node?.status.volumesInUse ?? []);
    const attached = new Map((node?.status.volumesAttached ?? []).map((each) => [each.name, each]));
    let hasChanged = false;
    const nameOf = (volume: SeenVolume): string =>
      `${volumeNames.csiPrefix}${volume.spec.csi!.driver}^${volume.spec.csi!.volumeHandle}`;
    for (const { metadata, spec, status } of present) {
      const entry = wanted.get(metadata.name!);
      if (entry && status.attached && !attached.has(nameOf(entry.volume))) {
        hasChanged = true;
        attached.set(nameOf(entry.volume), { name: nameOf(entry.volume), devicePath: "" });
        const text = `AttachVolume.Attach succeeded for volume "${entry.volume.metadata.name}" `;
        for (const pod of entry.pods) events.event(pod, "Normal", "SuccessfulAttachVolume", text);
      }
      if (entry) continue;
      const volume = volumes.get(undefined, spec.source.persistentVolumeName ?? "");
      const unique = volume?.spec.csi ? nameOf(volume) : undefined;
      if (unique !== undefined && inUse.has(unique)) continue;
      if (unique !== undefined && attached.delete(unique)) hasChanged = true;
      if (!metadata.deletionTimestamp)
        await ignoreReasons(["NotFound"], attachmentClient.delete(metadata.name!, { uid: metadata.uid! }));
    }
    if (node && hasChanged) {
      const volumesAttached = attached.size > 0 ? [...attached.values()] : null;
      await patchObject(
        client.of(kinds.nodes),
        node,
        { status: { volumesAttached } },
        { subresource: "status", ifUnchanged: true },
      );
    }
  }

  async function attach(name: string, volume: SeenVolume, nodeName: string): Promise<void> {
    if (attachments.get(undefined, name)) return;
    try {
      await attachmentClient.create({
        metadata: { name },
        spec: {
          attacher: volume.spec.csi!.driver,
          nodeName,
          source: { persistentVolumeName: volume.metadata.name! },
        },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
