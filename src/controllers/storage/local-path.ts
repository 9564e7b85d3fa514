// Local path provisioner: creates volumes on a node's own disk for claims scheduled to it, as folders below a
// base folder that are usable on this node only. Runs next to the node's agent.
import { chmod, lstat, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { StorageClass } from "#api";
import { makeFolder, removeTree } from "#base";
import { type AnyObject, type ApiClient, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SeenClaim,
  type SeenVolume,
  claimClass,
  ignoreReasons,
  isAlreadyExists,
  isNotFound,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { keyOf, splitKey } from "../pods.ts";

export interface LocalPathSettings {
  readonly nodeName: string;
  /** The base folder; nothing outside it is touched. */
  readonly folder: string;
}

const className = "local-path";
/** Names of the volumes this provisioner creates; no other volume's folder is ever removed. */
const volumeName = /^pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function localPathProvisioner(
  context: ControllerContext,
  { nodeName, folder }: LocalPathSettings,
): Controller {
  const { client, view, dialect, log } = context;
  const { annotations, labels, volumes: names } = dialect.names;
  const { volumeReclaim } = dialect.names.finalizers;
  const provisioner = names.localPathProvisioner;
  const events = recorderFor(context, provisioner);
  const resource = client.of(kinds.persistentVolumes);
  const queue = queueFor(context, "local-path", (key) => (key.includes("/") ? provision(key) : reclaim(key)));
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type, object }) => {
    if (type !== "deleted" && isForThisNode(object)) queue.add(keyOf(object));
  });
  const volumes = view.follow(kinds.persistentVolumes, ({ type, object }) => {
    if (type !== "deleted" && isManaged(object)) queue.add(object.metadata.name!);
  });
  const classes = view.follow(kinds.storageClasses);
  const nodes = view.follow(kinds.nodes);
  return { stopped: queue.stopped };

  /** Reports whether the binder requested a volume on this node. */
  function isForThisNode({ metadata, spec }: SeenClaim): boolean {
    return (
      metadata.annotations?.[annotations.storageProvisioner] === provisioner &&
      metadata.annotations?.[annotations.selectedNode] === nodeName &&
      !spec.volumeName &&
      !metadata.deletionTimestamp
    );
  }

  function isManaged({ metadata, spec }: SeenVolume): boolean {
    return (
      metadata.annotations?.[annotations.provisionedBy] === provisioner &&
      volumeName.test(metadata.name!) &&
      spec.local?.path === folderOf(metadata.name!)
    );
  }

  function folderOf(name: string): string {
    return join(resolve(folder), name);
  }

  async function provision(key: string): Promise<void> {
    const [namespace, claimName] = splitKey(key);
    const claim = claims.get(namespace, claimName);
    if (!claim || !isForThisNode(claim)) return;
    const storageClass = classes.get(undefined, claimClass(claim, dialect));
    if (storageClass?.provisioner !== provisioner) return;
    if (claim.spec.volumeMode === "Block") {
      const text = "volumes of a node's own disk are filesystems; there are no block devices among them";
      events.event(claim, "Warning", "ProvisioningFailed", text);
      return;
    }
    const name = `pvc-${claim.metadata.uid}`;
    const text = `External provisioner is provisioning volume for claim "${key}"`;
    events.event(claim, "Normal", "Provisioning", text);
    try {
      makeFolder(resolve(folder));
      await makeVolumeFolder(folderOf(name));
      await resource.create(volumeFor(claim, name, storageClass) as never);
      events.event(claim, "Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${name}`);
      log.verbose(1, "volume created", { volume: name, claim: key });
    } catch (error) {
      if (isAlreadyExists(error)) return;
      const why = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${(error as Error).message}`;
      events.event(claim, "Warning", "ProvisioningFailed", why);
      throw error;
    }
  }

  function volumeFor(claim: SeenClaim, name: string, storageClass: StorageClass & AnyObject): object {
    const { namespace, name: claimName, uid, resourceVersion } = claim.metadata;
    const hostname = nodes.get(undefined, nodeName)?.metadata.labels?.[labels.hostname] ?? nodeName;
    return {
      metadata: { name, annotations: { [annotations.provisionedBy]: provisioner } },
      spec: {
        capacity: { storage: String(claim.spec.resources?.requests?.["storage"] ?? "0") },
        accessModes: claim.spec.accessModes ?? [],
        volumeMode: "Filesystem",
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
        storageClassName: storageClass.metadata.name,
        claimRef: {
          kind: claim.kind,
          apiVersion: claim.apiVersion,
          namespace,
          name: claimName,
          uid,
          resourceVersion,
        },
        local: { path: folderOf(name) },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: labels.hostname, operator: "In", values: [hostname] }] },
            ],
          },
        },
      },
    };
  }

  /** Removes the folder and the volume after the claim was deleted, if the policy is Delete. */
  async function reclaim(name: string): Promise<void> {
    const volume = volumes.get(undefined, name);
    if (!volume || !isManaged(volume)) return;
    const isKept = volume.metadata.finalizers?.includes(volumeReclaim);
    if (volume.metadata.deletionTimestamp && !isKept) return;
    if (volume.status.phase !== "Released" || volume.spec.persistentVolumeReclaimPolicy !== "Delete") return;
    try {
      if (await lstat(folderOf(name)).catch(() => undefined)) await removeTree(folderOf(name));
    } catch (error) {
      events.event(volume, "Warning", "VolumeFailedDelete", (error as Error).message);
      throw error;
    }
    const { uid } = volume.metadata;
    await ignoreReasons(["NotFound", "Conflict"], resource.delete(name, { uid: uid! }));
    const patch = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [volumeReclaim] } };
    if (isKept) await ignoreReasons(["NotFound", "Conflict"], resource.patch(name, "strategic", patch));
    log.verbose(1, "volume deleted", { volume: name });
  }
}

/**
 * Pods may run as any user, so all users may write; the base folder is accessible only to the cluster's user.
 */
async function makeVolumeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o777 });
  await chmod(path, 0o777);
}

/**
 * Creates the storage class of these volumes, as the default unless there is another one. Pods that use it are
 * scheduled to this node only: no other node has a provisioner that would make their volume.
 */
export async function ensureLocalPathClass(client: ApiClient, nodeName: string): Promise<void> {
  const { annotations, labels, volumes } = client.dialect.names;
  const classes = client.of(kinds.storageClasses);
  const provisioner = volumes.localPathProvisioner;
  const allowedTopologies = [{ matchLabelExpressions: [{ key: labels.hostname, values: [nodeName] }] }];
  try {
    const present = await classes.get(className);
    if (
      present.provisioner === provisioner &&
      !isDeepStrictEqual(present.allowedTopologies, allowedTopologies)
    )
      await classes.patch(className, "merge", { allowedTopologies });
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const { items } = await classes.list();
  const hasDefault = items.some(
    ({ metadata }) => metadata.annotations?.[annotations.defaultStorageClass] === "true",
  );
  await ignoreReasons(
    ["AlreadyExists"],
    classes.create({
      metadata: { name: className, annotations: { [annotations.defaultStorageClass]: String(!hasDefault) } },
      provisioner,
      reclaimPolicy: "Delete",
      volumeBindingMode: "WaitForFirstConsumer",
      allowedTopologies,
    }),
  );
}
