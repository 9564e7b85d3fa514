// Binds claims to persistent volumes, maintains their phases, and requests provisioning.
import type { PersistentVolumeClaimStatus, StorageClass } from "#api";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SeenClaim,
  type SeenVolume,
  claimClass,
  findMatchingVolume,
  hasModes,
  ignoreReasons,
  isLargeEnough,
  isReservedFor,
  orUndefined,
  replaceObject,
  queueFor,
  recorderFor,
  sameVolumeMode,
  volumeClass,
} from "#controllerkit";
import { keyOf, splitKey } from "../pods.ts";
import { reclaimFinalizers } from "./reclaim-finalizers.ts";
import { countVolumes, volumeOperations } from "./volume-metrics.ts";

type SeenClass = StorageClass & AnyObject;
type Requeue = { readonly requeueAfterMilliseconds: number } | void;

const noRecycler = "No recycler plugin found for the volume!";

export function volumeBinderController(context: ControllerContext, resyncMilliseconds = 15_000): Controller {
  const { client, clock, view, dialect, gates, metrics } = context;
  const { annotations, volumes: volumeNames } = dialect.names;
  const events = recorderFor(context, "persistentvolume-controller");
  const operations = volumeOperations(metrics, clock);
  const honorsPolicy = gates.enabled("HonorPVReclaimPolicy");
  const claimClient = client.of(kinds.persistentVolumeClaims);
  const volumeClient = client.of(kinds.persistentVolumes);
  // A single worker: two claims must not bind the same volume.
  const queue = queueFor(
    context,
    "persistentvolume-binder",
    (key) => (key.includes("/") ? syncClaim(key) : syncVolume(key)),
    { workers: 1 },
  );
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type, object }) => {
    if (type === "deleted") operations.forget(keyOf(object));
    queue.add(keyOf(object));
    if (object.spec.volumeName) queue.add(object.spec.volumeName);
  });
  const volumes = view.follow(kinds.persistentVolumes, ({ type, object }) => {
    if (type === "deleted") operations.succeeded(object.metadata.name!);
    queue.add(object.metadata.name!);
    const reference = object.spec.claimRef;
    if (reference) queue.add(`${reference.namespace}/${reference.name}`);
    else if (type !== "deleted") queueWaiting(volumeClass(object, dialect));
  });
  const byVolume = claims.index("volume", ({ spec }) => (spec.volumeName ? [spec.volumeName] : []));
  const waiting = claims.index("unbound", (claim) =>
    claim.spec.volumeName ? [] : [claimClass(claim, dialect)],
  );
  const classes = view.follow(kinds.storageClasses, ({ type, object }) => {
    if (type === "deleted") return;
    queueWaiting(object.metadata.name!);
    queueWaiting("");
  });
  const pods = view.follow(kinds.pods);
  countVolumes(metrics, { volumes, claims, dialect });
  const retroactive = metrics
    .counter({
      name: "retroactive_storageclass_total",
      help: "Number of claims without a storage class that were to get the default one afterwards.",
      stability: "ALPHA",
    })
    .with();
  const retroactiveErrors = metrics
    .counter({
      name: "retroactive_storageclass_errors_total",
      help: "Number of failures to give a claim without a storage class the default one afterwards.",
      stability: "ALPHA",
    })
    .with();
  return { stopped: queue.stopped };

  function queueWaiting(name: string): void {
    for (const claim of waiting(name)) queue.add(keyOf(claim));
  }

  async function syncClaim(key: string): Promise<Requeue> {
    const [namespace, name] = splitKey(key);
    const claim = claims.get(namespace, name);
    if (!claim) return;
    if (claim.metadata.annotations?.[annotations.bindCompleted]) return await syncBound(claim);
    await syncUnbound(claim);
    return { requeueAfterMilliseconds: resyncMilliseconds };
  }

  async function syncBound(claim: SeenClaim): Promise<void> {
    const lost = "Data on the volume is lost!";
    const { volumeName } = claim.spec;
    if (!volumeName)
      return await markLost(
        claim,
        "ClaimLost",
        `Bound claim has lost reference to PersistentVolume. ${lost}`,
      );
    const volume = volumes.get(undefined, volumeName);
    if (!volume)
      return await markLost(claim, "ClaimLost", `Bound claim has lost its PersistentVolume. ${lost}`);
    if (volume.spec.claimRef && !isReservedFor(volume, claim))
      return await markLost(
        claim,
        "ClaimMisbound",
        "Two claims are bound to the same volume, this one is bound incorrectly",
      );
    await bind(volume, claim);
  }

  async function markLost(claim: SeenClaim, reason: string, message: string): Promise<void> {
    if (claim.status.phase === "Lost") return;
    await claimClient.update({ ...claim, status: { phase: "Lost" } }, { subresource: "status" });
    events.event(claim, "Warning", reason, message);
  }

  async function syncUnbound(claim: SeenClaim): Promise<void> {
    if (claim.spec.volumeName) return await syncNamed(claim, claim.spec.volumeName);
    const storageClass = classes.get(undefined, claimClass(claim, dialect));
    const isSelected = Boolean(claim.metadata.annotations?.[annotations.selectedNode]);
    const isDelayed = storageClass?.volumeBindingMode === "WaitForFirstConsumer" && !isSelected;
    const volume = findMatchingVolume(claim, volumes.items(), { dialect, onlyReserved: isDelayed });
    if (volume) return await bindProvisioned(volume, claim);
    if (gates.enabled("RetroactiveDefaultStorageClass") && (await assignDefaultClass(claim))) return;
    if (isDelayed) recordDelay(claim);
    else if (claimClass(claim, dialect) !== "") await provision(claim, storageClass);
    else {
      const text = "no persistent volumes available for this claim and no storage class is set";
      events.event(claim, "Normal", "FailedBinding", text);
    }
  }

  async function syncNamed(claim: SeenClaim, volumeName: string): Promise<void> {
    const volume = volumes.get(undefined, volumeName);
    if (!volume) return;
    if (volume.spec.claimRef && !isReservedFor(volume, claim)) {
      const text = `volume "${volumeName}" already bound to a different claim.`;
      events.event(claim, "Warning", "FailedBinding", text);
      return;
    }
    const isSuitable =
      isReservedFor(volume, claim) ||
      (isLargeEnough(volume, claim) &&
        hasModes(volume, claim) &&
        sameVolumeMode(volume, claim) &&
        volumeClass(volume, dialect) === claimClass(claim, dialect));
    if (isSuitable) return await bind(volume, claim);
    const text = `Cannot bind to requested volume "${volumeName}": ${mismatch(volume, claim)}`;
    events.event(claim, "Warning", "VolumeMismatch", text);
  }

  function mismatch(volume: SeenVolume, claim: SeenClaim): string {
    if (!isLargeEnough(volume, claim)) return "requested PV is too small";
    if (volumeClass(volume, dialect) !== claimClass(claim, dialect)) return "storageClassName does not match";
    return sameVolumeMode(volume, claim) ? "incompatible accessMode" : "incompatible volumeMode";
  }

  /** Sets the default storage class, if there is one, on a claim that names none. */
  async function assignDefaultClass(claim: SeenClaim): Promise<boolean> {
    const named = claim.spec.storageClassName ?? claim.metadata.annotations?.[annotations.betaStorageClass];
    if (named !== undefined && named !== null) return false;
    const defaults = [...classes.items()]
      .filter(
        ({ metadata }) =>
          metadata.annotations?.[annotations.defaultStorageClass] === "true" ||
          metadata.annotations?.[annotations.betaDefaultStorageClass] === "true",
      )
      .toSorted((a, b) =>
        (a.metadata.creationTimestamp ?? "") > (b.metadata.creationTimestamp ?? "") ? -1 : 1,
      );
    const storageClassName = defaults[0]?.metadata.name;
    if (storageClassName === undefined) return false;
    retroactive.add();
    try {
      await replaceObject(claimClient, claim, { spec: { storageClassName } });
    } catch (error) {
      retroactiveErrors.add();
      throw error;
    }
    return true;
  }

  function recordDelay(claim: SeenClaim): void {
    const users = pods
      .inNamespace(claim.metadata.namespace!)
      .filter(
        ({ spec, metadata }) =>
          !spec.nodeName &&
          (spec.volumes ?? []).some(
            ({ name, persistentVolumeClaim, ephemeral }) =>
              persistentVolumeClaim?.claimName === claim.metadata.name ||
              (ephemeral && `${metadata.name}-${name}` === claim.metadata.name),
          ),
      );
    if (users.length === 0) {
      const text = "waiting for first consumer to be created before binding";
      events.event(claim, "Normal", "WaitForFirstConsumer", text);
    } else {
      const names = users.map(({ metadata }) => metadata.name).join(",");
      const text = `waiting for ${users.length > 1 ? "pods" : "pod"} ${names} to be scheduled`;
      events.event(claim, "Normal", "WaitForPodScheduled", text);
    }
  }

  async function provision(claim: SeenClaim, storageClass: SeenClass | undefined): Promise<void> {
    if (!storageClass) {
      const kind = `storageclass.storage.${dialect.wire.groupSuffix}`;
      const text = `${kind} "${claimClass(claim, dialect)}" not found`;
      events.event(claim, "Warning", "ProvisioningFailed", text);
      return;
    }
    const { provisioner } = storageClass;
    operations.begin(keyOf(claim), provisioner, "provision");
    if (provisioner.startsWith(volumeNames.pluginPrefix) && !isLocalPath(provisioner)) {
      events.event(claim, "Warning", "ProvisioningFailed", `no volume plugin matched name: ${provisioner}`);
      operations.failed(keyOf(claim));
      return;
    }
    if (claim.metadata.annotations?.[annotations.storageProvisioner] !== provisioner)
      await replaceObject(claimClient, claim, {
        metadata: {
          annotations: {
            [annotations.storageProvisioner]: provisioner,
            [annotations.betaStorageProvisioner]: provisioner,
          },
        },
      });
    const text = `waiting for a volume to be created, either by external provisioner "${provisioner}" or manually created by system administrator`;
    events.event(claim, "Normal", "ExternalProvisioning", text);
  }

  function isLocalPath(provisioner: string): boolean {
    return provisioner === volumeNames.localPathProvisioner;
  }

  /** Binds a claim that waited for its volume, which may have been provisioned for it. */
  async function bindProvisioned(volume: SeenVolume, claim: SeenClaim): Promise<void> {
    try {
      await bind(volume, claim);
      operations.succeeded(keyOf(claim));
    } catch (error) {
      operations.failed(keyOf(claim));
      throw error;
    }
  }

  /** Binds the volume and the claim to each other and updates the phase of both. */
  async function bind(volume: SeenVolume, claim: SeenClaim): Promise<void> {
    const { uid, name, namespace, resourceVersion } = claim.metadata;
    let bound = volume;
    if (volume.spec.claimRef?.uid !== uid) {
      const claimRef = {
        apiVersion: claim.apiVersion,
        kind: claim.kind,
        namespace,
        name,
        uid,
        resourceVersion,
      };
      const isChosenHere = !isReservedFor(volume, claim);
      bound = await replaceObject(volumeClient, volume, {
        spec: { claimRef },
        ...(isChosenHere && { metadata: { annotations: { [annotations.boundByController]: "yes" } } }),
      });
    }
    bound = await setPhase(bound, "Bound");
    let boundClaim = claim;
    const volumeName = bound.metadata.name!;
    const isNew = claim.spec.volumeName !== volumeName;
    if (isNew || !claim.metadata.annotations?.[annotations.bindCompleted])
      boundClaim = await replaceObject(claimClient, claim, {
        metadata: {
          annotations: {
            [annotations.bindCompleted]: "yes",
            ...(isNew && { [annotations.boundByController]: "yes" }),
          },
        },
        spec: { volumeName },
      });
    const { accessModes, capacity } = bound.spec;
    const before = boundClaim.status;
    if (before.phase === "Bound" && before.capacity) return;
    const status: PersistentVolumeClaimStatus = {
      ...before,
      phase: "Bound",
      ...(accessModes && { accessModes }),
      ...(capacity && { capacity }),
    };
    await claimClient.update({ ...boundClaim, status }, { subresource: "status" });
  }

  async function setPhase(volume: SeenVolume, phase: string, message = ""): Promise<SeenVolume> {
    if (volume.status.phase === phase && (volume.status.message ?? "") === message) return volume;
    const { message: _, ...rest } = volume.status;
    return await volumeClient.update(
      { ...volume, status: { ...rest, phase, ...(message && { message }) } },
      { subresource: "status" },
    );
  }

  async function syncVolume(name: string): Promise<void> {
    const seen = volumes.get(undefined, name);
    if (!seen) {
      for (const claim of byVolume(name)) queue.add(keyOf(claim));
      return;
    }
    const volume = await withFinalizers(seen);
    const reference = volume.spec.claimRef;
    if (!reference?.uid) return void (await setPhase(volume, "Available"));
    const claim = claims.get(reference.namespace, reference.name!);
    if (claim?.metadata.uid !== reference.uid) return await release(volume);
    if (!claim.spec.volumeName) return queue.add(keyOf(claim));
    if (claim.spec.volumeName === name) return void (await setPhase(volume, "Bound"));
    // The claim is bound to another volume.
    if (
      volume.metadata.annotations?.[annotations.provisionedBy] &&
      volume.spec.persistentVolumeReclaimPolicy === "Delete"
    )
      return await release(volume);
    const { [annotations.boundByController]: boundByController, ...others } =
      volume.metadata.annotations ?? {};
    const { uid: _, resourceVersion: __, ...kept } = reference;
    const { claimRef: ___, ...spec } = volume.spec;
    const freed = await volumeClient.update({
      ...volume,
      metadata: { ...volume.metadata, annotations: others },
      spec: boundByController ? spec : { ...spec, claimRef: kept },
    });
    await setPhase(freed, "Available");
  }

  async function withFinalizers(volume: SeenVolume): Promise<SeenVolume> {
    const finalizers = honorsPolicy ? reclaimFinalizers(volume, dialect) : undefined;
    if (!finalizers) return volume;
    return await volumeClient.update({ ...volume, metadata: { ...volume.metadata, finalizers } });
  }

  /** Releases a volume whose claim was deleted, and reclaims it according to its policy. */
  async function release(volume: SeenVolume): Promise<void> {
    const { name, namespace } = volume.spec.claimRef!;
    // The informer cache may be stale: confirm with the API server that the claim is gone. A claim that is not
    // bound yet is just being bound to this volume.
    const fresh = await orUndefined(claimClient.get(name!, { namespace: namespace! }));
    const isSame = fresh?.metadata.uid === volume.spec.claimRef!.uid;
    if (isSame && (fresh?.spec.volumeName || volume.metadata.name) === volume.metadata.name) return;
    const { phase } = volume.status;
    const released = phase === "Released" || phase === "Failed" ? volume : await setPhase(volume, "Released");
    const policy = volume.spec.persistentVolumeReclaimPolicy;
    if (policy === "Retain" || !policy || phase === "Failed") return;
    if (policy === "Delete" && volume.metadata.deletionTimestamp && !honorsPolicy) return;
    if (policy === "Delete")
      operations.begin(
        volume.metadata.name!,
        volume.metadata.annotations?.[annotations.provisionedBy] ?? "",
        "delete",
      );
    const problem = policy === "Recycle" ? noRecycler : deletionProblem(volume);
    if (problem === undefined) return;
    operations.failed(volume.metadata.name!);
    const reason = policy === "Recycle" ? "VolumeFailedRecycle" : "VolumeFailedDelete";
    await ignoreReasons(["NotFound"], setPhase(released, "Failed", problem));
    events.event(volume, "Warning", reason, problem);
  }

  /** Returns why the volume cannot be deleted; undefined if its external provisioner deletes it. */
  function deletionProblem({ metadata, spec }: SeenVolume): string | undefined {
    const provisioner = metadata.annotations?.[annotations.provisionedBy];
    if (provisioner) {
      const isExternal = !provisioner.startsWith(volumeNames.pluginPrefix) || isLocalPath(provisioner);
      return isExternal ? undefined : `no volume plugin matched name: ${provisioner}`;
    }
    const isKnown = spec.hostPath ?? spec.nfs ?? spec.local ?? spec.csi;
    const why = isKnown ? "no deletable volume plugin matched" : "no volume plugin matched";
    return `error getting deleter volume plugin for volume "${metadata.name}": ${why}`;
  }
}
