// The volume plug-in for CSI drivers: attaches volumes, stages them once per node, publishes them for each
// pod, and tears them down from the data recorded next to them.
import { mkdir, readdir, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CSIDriver as CsiDriverObject, Pod, SecretReference } from "#api";
import { ApiError, type Log } from "#base";
import { type ApiClient, kinds } from "#client";
import type { Dialect } from "#dialect";
import { grpcErrorText } from "../errors.ts";
import type { EventRecorder, VolumePlugin, VolumeSpec, VolumeStats } from "../interfaces.ts";
import { namespaceOf, uidOf } from "../pod.ts";
import { fileSystemStats } from "../volumes/file-system-stats.ts";
import type { Mounter } from "../volumes/mounter.ts";
import { VolumeOperationError } from "../volumes/operation-error.ts";
import { setGroupRecursively } from "../volumes/ownership.ts";
import { fsGroupOf } from "../volumes/plugins/sharing.ts";
import type { PodTokens } from "../volumes/tokens.ts";
import type { CsiAttachments } from "./attachments.ts";
import {
  type CsiVolume,
  capabilityOf,
  checkLifecycle,
  csiVolumeOf,
  appliesFsGroup,
  podInfo,
} from "./capability.ts";
import type { CsiDriver, CsiDrivers } from "./drivers.ts";
import { csiExpansion } from "./expansion.ts";
import { csiNodeService, nodeCapability } from "./messages.ts";
import {
  type VolumeData,
  attachmentName,
  readVolumeData,
  removeVolumeData,
  removeVolumeDataDraft,
  stagingDirectory,
  writeVolumeData,
} from "./volume-data.ts";

export interface CsiPluginOptions {
  readonly dialect: Dialect;
  readonly log: Log;
  readonly events: EventRecorder;
  /** Undefined without an API server: then only inline volumes are available. */
  readonly client: ApiClient | undefined;
  readonly drivers: CsiDrivers;
  readonly attachments: CsiAttachments | undefined;
  readonly mounter: Mounter;
  readonly tokens: Pick<PodTokens, "request">;
  readonly nodeName: string;
  /** Whether failed expansions can be given up (RecoverVolumeExpansionFailure). */
  readonly recovers: boolean;
  /** The directory of all pods, and that of this plug-in. */
  readonly podsFolder: string;
  readonly pluginFolder: string;
}

export interface CsiPlugin extends VolumePlugin {
  /** Returns the attachable volumes in use on this node, by their unique names in the node status. */
  inUse(): readonly string[];
}

/** A volume with the information from its driver and the API server. */
interface Prepared {
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly object: CsiDriverObject | undefined;
  readonly publishContext: Readonly<Record<string, string>>;
  readonly data: VolumeData;
}

const tokensName = "serviceAccount.tokens";
const defaultTokenSeconds = 3600;

export function csiPlugin(options: CsiPluginOptions): CsiPlugin {
  const { dialect, client, drivers, attachments, mounter, nodeName, podsFolder, pluginFolder } = options;
  const { csiPrefix, csiPodInfoPrefix, pluginPrefix } = dialect.names.volumes;
  const kindFolder = `${pluginPrefix.replaceAll("/", "~")}csi`;
  const pendingOperations = new Map<string, Promise<unknown>>();
  const staged = new Set<string>();
  const attachedVolumes = new Map<string, string>();
  const expansion = csiExpansion({ ...options, pluginName: `${pluginPrefix}csi`, secretOf });
  const deviceFolder = join(pluginFolder, "volumeDevices");
  const keyOf = (driver: string, handle: string): string => `${driver}^${handle}`;
  const isMounted = async (path: string): Promise<boolean> => (await mounter.below(path)).includes(path);

  return {
    name: "csi",
    supports: ({ volume, persistent }) => Boolean(persistent ? persistent.spec.csi : volume.csi),
    mount: async (pod, spec, directory, signal) => {
      const prepared = await prepare(pod, spec, directory, signal);
      const stagingPath = await stage(pod, prepared, signal);
      const target = join(directory, "mount");
      if (prepared.object?.spec.requiresRepublish || !(await isMounted(target)))
        await publish(pod, prepared, { target, stagingPath, asDevice: false }, signal);
      await applyFsGroup(pod, prepared, target);
      await expansion.duringSetUp(
        pod,
        spec,
        { ...prepared, driver: () => prepared.driver, path: target, stagingPath, asDevice: false },
        signal,
      );
      return { hostPath: target, ...(prepared.volume.readOnly && { readOnly: true }), selinuxRelabel: true };
    },
    refresh: async (pod, spec, directory) => {
      const { signal } = new AbortController();
      const volume = csiVolumeOf(pod, spec);
      const object = await driverObject(volume.driver);
      const data = await readVolumeData(directory);
      if (!data) return;
      const stagingPath = staged.has(keyOf(volume.driver, volume.handle)) ? stagingPathOf(data) : undefined;
      const target = join(directory, "mount");
      if (object?.spec.requiresRepublish) {
        const prepared = { volume, driver: drivers.get(volume.driver), object, data, publishContext: {} };
        await publish(pod, prepared, { target, stagingPath, asDevice: false }, signal);
      }
      const driver = (): CsiDriver => drivers.get(volume.driver);
      await expansion.inUse(
        pod,
        spec,
        { volume, driver, path: target, stagingPath, asDevice: false },
        signal,
      );
    },
    isRecorded: async (directory) => (await readVolumeData(directory)) !== undefined,
    adopt: async ({ name, directory, isDevice }) => {
      const data = await readVolumeData(isDevice ? dataFolderOf(name) : directory);
      if (!data?.attachmentID) return;
      const key = keyOf(data.driverName, data.volumeHandle);
      attachedVolumes.set(key, `${csiPrefix}${key}`);
    },
    unmount: async (_, __, directory) => {
      const data = await readVolumeData(directory);
      if (!data) return await removeVolumeDataDraft(directory);
      const target = join(directory, "mount");
      const driver = drivers.get(data.driverName);
      await driver.call(csiNodeService.unpublish, { volumeId: data.volumeHandle, targetPath: target });
      await rmdir(target).catch(unlessMissing);
      await removeVolumeData(directory);
      await serialized(data, async () => {
        if (await isPublishedElsewhere(data)) return;
        const folder = stagingDirectory(pluginFolder, data.driverName, data.volumeHandle);
        await unstage(driver, data, { path: join(folder, "globalmount"), folder });
      });
    },
    map: async (pod, spec, link, signal) => {
      const volume = csiVolumeOf(pod, spec);
      const target = join(deviceFolder, "publish", volume.name, uidOf(pod));
      const prepared = await prepare(pod, spec, dataFolderOf(volume.name), signal);
      await mkdir(dirname(target), { recursive: true, mode: 0o750 });
      const stagingPath = await stage(pod, prepared, signal, join(deviceFolder, "staging", volume.name));
      // As in the kubelet, the request names the path also if the driver does not stage.
      const path = join(deviceFolder, "staging", volume.name);
      await publish(pod, prepared, { target, stagingPath: path, asDevice: true }, signal);
      await mkdir(dirname(link), { recursive: true, mode: 0o750 });
      await symlink(target, link).catch((error: unknown) => {
        if ((error as { code?: string }).code !== "EEXIST") throw error;
      });
      const driver = (): CsiDriver => prepared.driver;
      await expansion.duringSetUp(
        pod,
        spec,
        { volume, driver, path: target, stagingPath, asDevice: true },
        signal,
      );
      return { hostPath: link, isDevice: true, ...(volume.readOnly && { readOnly: true }) };
    },
    refreshDevice: async (pod, spec) => {
      const volume = csiVolumeOf(pod, spec);
      const driver = (): CsiDriver => drivers.get(volume.driver);
      const path = join(deviceFolder, "publish", volume.name, uidOf(pod));
      const stagingPath = join(deviceFolder, "staging", volume.name);
      const { signal } = new AbortController();
      await expansion.inUse(pod, spec, { volume, driver, path, stagingPath, asDevice: true }, signal);
    },
    unmap: async (podUid, name, link) => {
      const data = await readVolumeData(dataFolderOf(name));
      if (data) {
        const driver = drivers.get(data.driverName);
        const targetPath = join(deviceFolder, "publish", name, podUid);
        await driver.call(csiNodeService.unpublish, { volumeId: data.volumeHandle, targetPath });
        await rm(targetPath, { force: true, recursive: false }).catch(() => rmdir(targetPath));
        await serialized(data, async () => {
          if ((await readdir(join(deviceFolder, "publish", name)).catch(() => [])).length > 0) return;
          await unstage(driver, data, {
            path: join(deviceFolder, "staging", name),
            folder: dataFolderOf(name),
          });
          await rmdir(join(deviceFolder, "publish", name)).catch(unlessMissing);
          await rmdir(join(deviceFolder, name)).catch(unlessMissing);
        });
      } else await removeVolumeDataDraft(dataFolderOf(name));
      await unlink(link).catch(unlessMissing);
    },
    stats,
    inUse: () => [...attachedVolumes.values()],
  };

  function dataFolderOf(name: string): string {
    return join(deviceFolder, name, "data");
  }

  /**
   * Reads the driver's object and waits for the attachment; records the volume's data before anything is
   * mounted.
   */
  async function prepare(
    pod: Pod,
    spec: VolumeSpec,
    directory: string,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const volume = csiVolumeOf(pod, spec);
    const driver = driverFor(volume.driver);
    const object = await driverObject(volume.driver);
    checkLifecycle(volume, object);
    const isAttached = volume.mode === "Persistent" && object?.spec.attachRequired !== false;
    const data: VolumeData = {
      driverName: volume.driver,
      volumeHandle: volume.handle,
      specVolID: volume.name,
      nodeName,
      attachmentID: isAttached ? attachmentName(volume.handle, volume.driver, nodeName) : "",
      volumeLifecycleMode: volume.mode,
    };
    await mkdir(directory, { recursive: true, mode: 0o750 });
    await writeVolumeData(directory, data);
    const key = keyOf(volume.driver, volume.handle);
    if (isAttached) attachedVolumes.set(key, `${csiPrefix}${key}`);
    const publishContext =
      isAttached && attachments
        ? await attachments.await(
            { driver: volume.driver, handle: volume.handle, persistentName: volume.name },
            signal,
          )
        : {};
    return { volume, driver, object, publishContext, data };
  }

  function driverFor(name: string): CsiDriver {
    try {
      return drivers.get(name);
    } catch (error) {
      const text = `${pluginPrefix}csi: mounter.SetUpAt failed to get CSI client: ${(error as Error).message}`;
      throw new Error(text, { cause: error });
    }
  }

  async function driverObject(name: string): Promise<CsiDriverObject | undefined> {
    if (!client) return undefined;
    return await client
      .of(kinds.csiDrivers)
      .get(name)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      });
  }

  function stagingPathOf({ driverName, volumeHandle }: VolumeData): string {
    return join(stagingDirectory(pluginFolder, driverName, volumeHandle), "globalmount");
  }

  /** Stages the volume on the node if the driver supports staging; returns the staging path. */
  async function stage(
    pod: Pod,
    { volume, driver, publishContext, data }: Prepared,
    signal: AbortSignal,
    devicePath?: string,
  ): Promise<string | undefined> {
    if (volume.mode === "Ephemeral" || !(await driver.can(nodeCapability.stage, signal))) return undefined;
    const path = devicePath ?? stagingPathOf(data);
    return await serialized(data, async () => {
      const key = keyOf(volume.driver, volume.handle);
      if (staged.has(key)) return path;
      await mkdir(path, { recursive: true, mode: 0o750 });
      if (devicePath === undefined) await writeVolumeData(dirname(path), data);
      const { nodeStageSecretRef, volumeAttributes } = volume.source!;
      const isDevice = devicePath !== undefined;
      const step = isDevice ? "MapVolume.SetUpDevice" : "MountVolume.MountDevice";
      await withDriverError(isDevice ? "FailedMapVolume" : "FailedMount", step, volume, () =>
        capability(pod, volume, driver, isDevice, signal).then(async (volumeCapability) =>
          driver.call(
            csiNodeService.stage,
            {
              volumeId: volume.handle,
              publishContext: { ...publishContext },
              stagingTargetPath: path,
              volumeCapability,
              secrets: await secretOf(nodeStageSecretRef),
              volumeContext: { ...volumeAttributes },
            },
            signal,
          ),
        ),
      );
      staged.add(key);
      return path;
    });
  }

  async function publish(
    pod: Pod,
    { volume, driver, object, publishContext }: Prepared,
    at: { readonly target: string; readonly stagingPath: string | undefined; readonly asDevice: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const context: Record<string, string> = { ...volume.attributes };
    if (object?.spec.podInfoOnMount) Object.assign(context, podInfo(csiPodInfoPrefix, pod, volume.mode));
    if (object?.spec.tokenRequests?.length)
      context[`${csiPodInfoPrefix}${tokensName}`] = await tokensFor(pod, object);
    const inline = pod.spec.volumes?.find(({ name }) => name === volume.name)?.csi?.nodePublishSecretRef;
    const secretRef: SecretReference | undefined =
      volume.mode === "Ephemeral"
        ? inline && { name: inline.name ?? "", namespace: namespaceOf(pod) }
        : volume.source!.nodePublishSecretRef;
    const volumeCapability = await capability(pod, volume, driver, at.asDevice, signal);
    const request = {
      volumeId: volume.handle,
      publishContext: { ...publishContext },
      ...(at.stagingPath && { stagingTargetPath: at.stagingPath }),
      targetPath: at.target,
      volumeCapability,
      readonly: volume.readOnly,
      secrets: await secretOf(secretRef),
      volumeContext: context,
    };
    const [reason, step] = at.asDevice
      ? (["FailedMapVolume", "MapVolume.MapPodDevice"] as const)
      : (["FailedMount", "MountVolume.SetUp"] as const);
    await withDriverError(reason, step, volume, () => driver.call(csiNodeService.publish, request, signal));
  }

  async function capability(
    pod: Pod,
    volume: CsiVolume,
    driver: CsiDriver,
    asDevice: boolean,
    signal: AbortSignal,
  ) {
    const group = fsGroupOf(pod);
    const takesGroup = group !== undefined && (await driver.can(nodeCapability.mountGroup, signal));
    const supportsMultiWriter = await driver.can(nodeCapability.singleNodeMultiWriter, signal);
    return capabilityOf(volume, {
      asDevice,
      supportsMultiWriter,
      ...(takesGroup && { group }),
    });
  }

  async function applyFsGroup(pod: Pod, { volume, object, driver }: Prepared, target: string): Promise<void> {
    const group = fsGroupOf(pod);
    if (group === undefined || volume.readOnly || !appliesFsGroup(volume, object)) return;
    if (await driver.can(nodeCapability.mountGroup)) return;
    const onlyOnMismatch = pod.spec.securityContext?.fsGroupChangePolicy === "OnRootMismatch";
    await setGroupRecursively(target, group, { onlyOnMismatch });
  }

  async function unstage(
    driver: CsiDriver,
    data: VolumeData,
    at: { readonly path: string; readonly folder: string },
  ): Promise<void> {
    const key = keyOf(data.driverName, data.volumeHandle);
    if (data.volumeLifecycleMode === "Persistent" && (await driver.can(nodeCapability.stage))) {
      await driver.call(csiNodeService.unstage, { volumeId: data.volumeHandle, stagingTargetPath: at.path });
      await rmdir(at.path).catch(unlessMissing);
    }
    staged.delete(key);
    expansion.forget(data.driverName, data.volumeHandle);
    await removeVolumeData(at.folder);
    await rmdir(at.folder).catch(unlessMissing);
    if (data.attachmentID) await attachments?.detach(data.attachmentID);
    attachedVolumes.delete(key);
  }

  /** Reports whether another pod on the node still uses the volume, according to the recorded volume data. */
  async function isPublishedElsewhere({ driverName, volumeHandle }: VolumeData): Promise<boolean> {
    for (const uid of await readdir(podsFolder).catch(() => [])) {
      const parent = join(podsFolder, uid, "volumes", kindFolder);
      for (const name of await readdir(parent).catch(() => [])) {
        const other = await readVolumeData(join(parent, name));
        if (other?.driverName === driverName && other.volumeHandle === volumeHandle) return true;
      }
    }
    return false;
  }

  /** Serializes operations on one volume across all pods. */
  async function serialized<T>({ driverName, volumeHandle }: VolumeData, run: () => Promise<T>): Promise<T> {
    const key = keyOf(driverName, volumeHandle);
    const turn = (pendingOperations.get(key) ?? Promise.resolve()).then(run, run);
    const settled = turn.catch(() => undefined);
    pendingOperations.set(key, settled);
    try {
      return await turn;
    } finally {
      if (pendingOperations.get(key) === settled) pendingOperations.delete(key);
    }
  }

  async function secretOf(reference: SecretReference | undefined): Promise<Record<string, string>> {
    if (!reference?.name) return {};
    if (!client) throw new Error("secrets of storage drivers require an API server");
    const { data } = await client
      .of(kinds.secrets)
      .get(reference.name, { namespace: reference.namespace ?? "" })
      .catch((error: unknown) => {
        const where = `${reference.namespace}/${reference.name}`;
        throw new Error(`failed to get secret ${where}: ${(error as Error).message}`, { cause: error });
      });
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  }

  async function tokensFor(pod: Pod, { spec }: CsiDriverObject): Promise<string> {
    const tokens: Record<string, object> = {};
    for (const { audience = "", expirationSeconds } of spec.tokenRequests ?? []) {
      const seconds = Number(expirationSeconds ?? defaultTokenSeconds);
      const { token, expirationTimestamp } = await options.tokens.request(pod, audience, seconds);
      tokens[audience] = { token, expirationTimestamp };
    }
    return JSON.stringify(tokens);
  }

  async function stats(directory: string): Promise<VolumeStats> {
    const target = join(directory, "mount");
    const data = await readVolumeData(directory);
    const driver = data && drivers.has(data.driverName) ? drivers.get(data.driverName) : undefined;
    if (!data || !driver || !(await driver.can(nodeCapability.stats))) return await fileSystemStats(target);
    const isStaged = staged.has(keyOf(data.driverName, data.volumeHandle));
    const { usage } = await driver.call(csiNodeService.stats, {
      volumeId: data.volumeHandle,
      volumePath: target,
      ...(isStaged && { stagingTargetPath: stagingPathOf(data) }),
    });
    const [bytes, inodes] = [1, 2].map((unit) => usage.find((one) => one.unit === unit));
    return {
      capacityBytes: Number(bytes?.total ?? 0),
      availableBytes: Number(bytes?.available ?? 0),
      usedBytes: Number(bytes?.used ?? 0),
      inodes: Number(inodes?.total ?? 0),
      inodesFree: Number(inodes?.available ?? 0),
      inodesUsed: Number(inodes?.used ?? 0),
    };
  }
}

/** Runs a driver call; a failure is worded as in the kubelet, with the gRPC status. */
async function withDriverError<T>(
  reason: "FailedMount" | "FailedMapVolume",
  step: string,
  { name }: CsiVolume,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new VolumeOperationError(reason, `${step} failed`, name, grpcErrorText(error), { cause: error });
  }
}

const unlessMissing = (error: unknown): void => {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
};
