// Expands CSI volumes on the node: while they are set up, and in use when the volume has become larger.
import type { PersistentVolumeClaim, Pod, SecretReference } from "#api";
import { type Log, parseQuantity, quantityValue } from "#base";
import { type ApiClient, kinds } from "#client";
import { GrpcError } from "#http";
import { grpcErrorText } from "../errors.ts";
import type { EventRecorder, VolumeSpec } from "../interfaces.ts";
import { referenceTo } from "../pod.ts";
import { VolumeOperationError } from "../volumes/operation-error.ts";
import { type CsiVolume, capabilityOf } from "./capability.ts";
import type { CsiDriver } from "./drivers.ts";
import { csiNodeService, nodeCapability } from "./messages.ts";

export interface CsiExpansionOptions {
  readonly client: ApiClient | undefined;
  readonly events: EventRecorder;
  readonly log: Log;
  readonly nodeName: string;
  /** The plug-in's name in messages, with the prefix of the dialect. */
  readonly pluginName: string;
  /** Records the progress in the claim, so that a failed expansion can be given up (RecoverVolumeExpansionFailure). */
  readonly recovers: boolean;
  readonly secretOf: (reference: SecretReference | undefined) => Promise<Record<string, string>>;
}

/** A volume where it is mounted or mapped. */
export interface ExpandableVolume {
  readonly volume: CsiVolume;
  readonly driver: () => CsiDriver;
  readonly path: string;
  readonly stagingPath: string | undefined;
  readonly asDevice: boolean;
}

export interface CsiExpansion {
  /** Expands a volume that is being set up to the capacity of its persistent volume. */
  duringSetUp(pod: Pod, spec: VolumeSpec, of: ExpandableVolume, signal: AbortSignal): Promise<void>;
  /** Expands a volume in use that has become larger since it was last seen. */
  inUse(pod: Pod, spec: VolumeSpec, of: ExpandableVolume, signal: AbortSignal): Promise<void>;
  /** Forgets a volume that is no longer used on this node. */
  forget(driver: string, handle: string): void;
}

/** Statuses of a resize that let the node expand the volume. */
const expandableStatuses: readonly unknown[] = [undefined, "NodeExpansionPending", "NodeExpansionInProgress"];

export function csiExpansion(options: CsiExpansionOptions): CsiExpansion {
  const { client, events, log, nodeName, pluginName } = options;
  /** Volumes that their driver cannot expand while they are in use on this node. */
  const unexpandable = new Set<string>();
  /** Sizes in bytes of the volumes in use, which another node may have recorded in the claim before. */
  const sizes = new Map<string, number>();
  const keyOf = (driver: string, handle: string): string => `${driver}^${handle}`;

  return {
    duringSetUp: async (pod, spec, of, signal) => {
      const { persistent, claim } = spec;
      if (!client || !persistent || !claim) return;
      const name = persistent.metadata.name!;
      if (spec.readOnly) {
        const message = `MountVolume.NodeExpandVolume failed for volume ${JSON.stringify(name)} requested read-only file system`;
        report(pod, claim, "Warning", "FileSystemResizeFailed", message);
        return;
      }
      const [known, bytes] = [capacityOf(claim), bytesOf(persistent.spec.capacity?.["storage"])];
      if (bytes === undefined || (known ?? 0) >= bytes) return;
      try {
        await expand(pod, spec, of, { bytes, signal });
      } catch (error) {
        const [reason, what] = of.asDevice
          ? (["FailedMapVolume", "MapVolume.MarkVolumeAsMounted"] as const)
          : (["FailedMount", "MountVolume.Setup"] as const);
        const text = (error as Error).message;
        throw new VolumeOperationError(reason, `${what} failed while expanding volume`, name, text, {
          cause: error,
        });
      }
    },
    inUse: async (pod, spec, of, signal) => {
      const { persistent, claim } = spec;
      if (!client || !persistent || !claim || spec.readOnly) return;
      const key = keyOf(of.volume.driver, of.volume.handle);
      const known = sizes.get(key) ?? capacityOf(claim);
      const bytes = bytesOf(persistent.spec.capacity?.["storage"]);
      if (known === undefined || bytes === undefined) return;
      sizes.set(key, known);
      if (bytes <= known || unexpandable.has(key)) return;
      const name = persistent.metadata.name!;
      const failure = (what: string, why: string, cause?: unknown): Error =>
        new VolumeOperationError("VolumeResizeFailed", `NodeExpandVolume.${what}`, name, why, { cause });
      const isDone = await expand(pod, spec, of, { bytes, signal }).catch((error: unknown) => {
        throw failure("NodeExpandVolume failed", (error as Error).message, error);
      });
      if (!isDone)
        throw failure(
          "NodeExpandVolume failed to resize volume",
          "volume resizing failed for unknown reason",
        );
      sizes.set(key, bytes);
    },
    forget: (driver, handle) => {
      unexpandable.delete(keyOf(driver, handle));
      sizes.delete(keyOf(driver, handle));
    },
  };

  /** Expands the volume and records its size in the claim; false if the claim does not let it. */
  async function expand(
    pod: Pod,
    { persistent, claim }: VolumeSpec,
    of: ExpandableVolume,
    { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const key = keyOf(of.volume.driver, of.volume.handle);
    const { resizeStatus, allocatedResources } = claim!.status ?? {};
    const recovers =
      options.recovers && (typeof resizeStatus === "string" || allocatedResources !== undefined);
    const isRecorded = (capacityOf(claim!) ?? 0) >= bytes && (!recovers || !resizeStatus);
    if (recovers && !isRecorded && !expandableStatuses.includes(resizeStatus ?? undefined)) return false;
    let current = claim!;
    if (recovers && !isRecorded) current = await mark(current, { resizeStatus: "NodeExpansionInProgress" });
    let driver: CsiDriver;
    try {
      driver = of.driver();
      await callDriver(driver, of, { bytes, mountOptions: persistent!.spec.mountOptions ?? [], signal });
    } catch (error) {
      if (recovers && driver! !== undefined)
        await mark(current, { resizeStatus: "NodeExpansionFailed" }).catch((failure: Error) =>
          log.warn("failed to record the failed expansion of a volume", {
            volume: key,
            error: failure.message,
          }),
        );
      const { cause } = error as Error;
      if (!(cause instanceof GrpcError) || cause.code !== "FAILED_PRECONDITION") throw error;
      // The driver cannot expand the volume in use: the pod gets it as it is.
      log.warn("volume cannot be expanded while in use", { volume: key, error: cause.detail });
      unexpandable.add(key);
      return !recovers;
    }
    const message = `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(persistent!.metadata.name)} ${nodeName}`;
    report(pod, claim!, "Normal", "FileSystemResizeSuccessful", message);
    if (isRecorded) return true;
    const conditions = (current.status?.conditions ?? []).filter(
      ({ type }) => type !== "FileSystemResizePending" && type !== "Resizing",
    );
    await mark(current, {
      capacity: { storage: String(persistent!.spec.capacity!["storage"]) },
      ...(options.recovers && { resizeStatus: "" }),
      conditions: conditions.length > 0 ? conditions : null,
    }).catch((error: unknown) => {
      const text = `mountVolume.NodeExpandVolume update ${recovers ? "pvc" : "PVC"} status failed: ${(error as Error).message}`;
      throw new Error(text, { cause: error });
    });
    return true;
  }

  async function callDriver(
    driver: CsiDriver,
    { volume, path, stagingPath, asDevice }: ExpandableVolume,
    {
      bytes,
      mountOptions,
      signal,
    }: { readonly bytes: number; readonly mountOptions: readonly string[]; readonly signal: AbortSignal },
  ): Promise<void> {
    if (!(await driver.can(nodeCapability.expand, signal)))
      throw new Error(
        `Expander.NodeExpand found CSI plugin ${pluginName}/${driver.name} to not support node expansion`,
      );
    const request = {
      volumeId: volume.handle,
      volumePath: path,
      ...(stagingPath && { stagingTargetPath: stagingPath }),
      capacityRange: { requiredBytes: bytes },
      volumeCapability: capabilityOf(
        { ...volume, mountOptions },
        { asDevice, supportsMultiWriter: await driver.can(nodeCapability.singleNodeMultiWriter, signal) },
      ),
      secrets: await options.secretOf(volume.source?.nodeExpandSecretRef),
    };
    await driver.call(csiNodeService.expand, request, signal).catch((error: unknown) => {
      const text = `Expander.NodeExpand failed to expand the volume : ${grpcErrorText(error)}`;
      throw new Error(text, { cause: error });
    });
  }

  /** Changes the status of a claim; fails if the claim has been changed meanwhile. */
  async function mark({ metadata }: PersistentVolumeClaim, status: object): Promise<PersistentVolumeClaim> {
    const { name = "", namespace = "", resourceVersion } = metadata;
    const ifUnchanged = resourceVersion !== undefined && { metadata: { resourceVersion } };
    return await client!
      .of(kinds.persistentVolumeClaims)
      .patch(name, "merge", { ...ifUnchanged, status }, { namespace, subresource: "status" });
  }

  function report(
    pod: Pod,
    claim: PersistentVolumeClaim,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void {
    const { name = "", namespace = "", uid = "" } = claim.metadata;
    const ofClaim = { kind: "PersistentVolumeClaim", apiVersion: "v1", name, namespace, uid };
    for (const regarding of [referenceTo(pod), ofClaim]) events.event(regarding, type, reason, message);
  }
}

const bytesOf = (amount: unknown): number | undefined =>
  amount === undefined ? undefined : quantityValue(parseQuantity(String(amount)));
const capacityOf = ({ status }: PersistentVolumeClaim): number | undefined =>
  bytesOf(status?.capacity?.["storage"]);
