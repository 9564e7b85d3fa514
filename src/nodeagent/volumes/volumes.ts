// The volumes of pods: set up before the first container starts, kept up to date while it runs, taken away
// when all is over.
import { chmod, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Pod, Volume } from "#api";
import { type Clock, type Log, parseQuantity, quantityValue } from "#base";
import type { ApiClient } from "#client";
import type { Dialect } from "#dialect";
import { fsErrorText } from "../errors.ts";
import {
  containersOf,
  everyContainerOf,
  initContainersOf,
  keyOf,
  nameOf,
  namespaceOf,
  referenceTo,
  uidOf,
} from "../pod.ts";
import {
  type EventRecorder,
  type MountedVolume,
  type NodeFacts,
  type PodVolumes,
  type ReferencedObjects,
  type VolumeMetrics,
  VolumeError,
} from "../interfaces.ts";
import { type Payload, giveFolder, writeAtomically } from "./atomic-writer.ts";
import { ClaimError, type ClaimUse, boundVolume } from "./claims.ts";
import { teardownVolumes } from "./teardown.ts";
import { DeviceError, linkDevice } from "./device.ts";
import { type Git, GitRefusal, fillFromGit, systemGit } from "./git-repo.ts";
import { checkHostPath } from "./host-path.ts";
import type { Mounter } from "./mounter.ts";
import { giveToGroup } from "./ownership.ts";
import {
  type PayloadSources,
  configMapPayload,
  downwardPayload,
  projectedPayload,
  secretPayload,
} from "./payload.ts";
import { pluginNameOf } from "./plugin-name.ts";
import { bindInside } from "./sub-path.ts";
import { podTokens } from "./tokens.ts";

export interface VolumesOptions {
  readonly dialect: Dialect;
  readonly client: ApiClient | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly objects: ReferencedObjects;
  readonly node: Pick<NodeFacts, "name" | "allocatable" | "labels">;
  readonly mounter: Mounter;
  readonly git?: Git;
  readonly tally?: VolumeMetrics;
  /** The folder of all pods. */
  readonly podsFolder: string;
  /** Leaves volumes of ended pods mounted. */
  readonly keepTerminated?: boolean;
}

export interface RunningVolumes extends PodVolumes {
  /** Where a pod's emptyDirs on disk are that have a limit, and the limit. */
  limited(pod: Pod): readonly { readonly volume: string; readonly path: string; readonly limit: string }[];
  /** Where a pod's volumes are, by name; empty until they are set up. */
  places(podUid: string): ReadonlyMap<string, MountedVolume>;
}

const firstRetryMilliseconds = 500;
const longestRetryMilliseconds = 122_000;
const usualMode = 0o644;
/** What the kernel gives a file system in memory: all may write, and remove only what is theirs. */
const sharedMode = "1777";

interface Failure {
  readonly message: string;
  readonly firstAt: number;
  readonly at: number;
  readonly wait: number;
}

export function podVolumes(options: VolumesOptions): RunningVolumes {
  const { dialect, clock, log, events, objects, node, mounter, podsFolder, tally } = options;
  const tokens = podTokens(options);
  const sources: PayloadSources = {
    objects,
    allocatable: () => node.allocatable(),
    token: (pod, audience, seconds) => tokens.get(pod, audience, seconds),
  };
  const ready = new Map<string, Map<string, MountedVolume>>();
  const failures = new Map<string, Failure>();
  /** The kinds of each pod's volumes that are in place, for those who count. */
  const plugins = new Map<string, readonly { readonly plugin: string; readonly asDevice: boolean }[]>();
  const busy = new Map<string, Promise<unknown>>();
  const kindFolder = (kind: string): string =>
    `${dialect.names.volumes.pluginPrefix.replaceAll("/", "~")}${kind}`;
  const folderOf = (uid: string, kind: string, name: string): string =>
    join(podsFolder, uid, "volumes", kindFolder(kind), name);

  return {
    places: (uid) => ready.get(uid) ?? new Map(),
    limited: (pod) =>
      (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }) => {
        const limit = emptyDir && !emptyDir.medium ? emptyDir.sizeLimit : undefined;
        return limit && limit !== "0"
          ? [{ volume: name, path: folderOf(uidOf(pod), "empty-dir", name), limit }]
          : [];
      }),
    mount: (pod, signal) => inTurn(uidOf(pod), () => mountAll(pod, signal)),
    subPath: async (pod, volume, at) => {
      const target = join(
        podsFolder,
        uidOf(pod),
        "volume-subpaths",
        at.volumeName,
        at.container,
        String(at.index),
      );
      try {
        await bindInside(mounter, volume.hostPath, at.path, target);
        return target;
      } catch (error) {
        log.error("a path inside a volume cannot be used", {
          pod: keyOf(pod),
          volume: at.volumeName,
          path: at.path,
          error: (error as Error).message,
        });
        const was = await stat(join(volume.hostPath, at.path)).then(
          () => "prepare subPath",
          () => "create subPath directory",
        );
        throw new Error(
          `failed to ${was} for volumeMount ${JSON.stringify(at.volumeName)} of container ${JSON.stringify(at.container)}`,
          { cause: error },
        );
      }
    },
    refresh: (pod) =>
      inTurn(uidOf(pod), async () => {
        if (!ready.has(uidOf(pod))) {
          // What an earlier agent mounted is taken over: whatever is there already stays, the files are
          // written anew.
          if (await isThere(join(podsFolder, uidOf(pod), "volumes")))
            await mountAll(pod, never).catch(ignoreVolumeError);
          return;
        }
        for (const volume of pod.spec.volumes ?? []) {
          if (!isUsed(pod, volume.name)) continue;
          try {
            await fill(pod, volume);
          } catch (error) {
            tell(pod, volume.name, error as Error);
          }
        }
      }),
    release: (uid) =>
      inTurn(uid, async () => {
        if (options.keepTerminated) return;
        const at = clock.now();
        const told = (isGood: boolean): void => {
          for (const { plugin, asDevice } of plugins.get(uid) ?? [])
            tally?.tried(asDevice ? "unmap_volume" : "volume_unmount", plugin, clock.now() - at, isGood);
        };
        await teardownVolumes(mounter, join(podsFolder, uid)).catch((error: unknown) => {
          told(false);
          throw error;
        });
        told(true);
        plugins.delete(uid);
        ready.delete(uid);
        tokens.forget(uid);
        for (const key of failures.keys()) if (key.startsWith(`${uid}/`)) failures.delete(key);
      }),
  };

  /** One thing at a time with one pod's volumes. */
  async function inTurn<T>(uid: string, run: () => Promise<T>): Promise<T> {
    const turn = (busy.get(uid) ?? Promise.resolve()).then(run, run);
    const settled = turn.catch(() => undefined);
    busy.set(uid, settled);
    try {
      return await turn;
    } finally {
      if (busy.get(uid) === settled) busy.delete(uid);
    }
  }

  async function mountAll(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>> {
    const known = ready.get(uidOf(pod));
    const wanted = (pod.spec.volumes ?? []).filter(({ name }) => isUsed(pod, name));
    if (known && wanted.every(({ name }) => known.has(name))) return known;
    const mounted = new Map<string, MountedVolume>();
    let trouble: string | undefined;
    for (const volume of wanted) {
      signal.throwIfAborted();
      const key = `${uidOf(pod)}/${volume.name}`;
      const failed = failures.get(key);
      if (failed && clock.now() - failed.at < failed.wait) {
        trouble ??= failed.message;
        continue;
      }
      const begunAt = clock.now();
      const [operation, plugin] = [
        isDevice(pod, volume.name) ? ("map_volume" as const) : ("volume_mount" as const),
        pluginNameOf(volume, dialect),
      ];
      const firstAt = failed?.firstAt ?? begunAt;
      try {
        mounted.set(volume.name, await setUp(pod, volume));
        failures.delete(key);
        tally?.tried(operation, plugin, clock.now() - begunAt, true);
        tally?.inPlace(operation, plugin, clock.now() - firstAt);
      } catch (error) {
        tally?.tried(operation, plugin, clock.now() - begunAt, false);
        const message = tell(pod, volume.name, error as Error);
        failures.set(key, {
          message,
          firstAt,
          at: clock.now(),
          wait: Math.min(longestRetryMilliseconds, failed ? failed.wait * 2 : firstRetryMilliseconds),
        });
        trouble ??= message;
      }
    }
    if (trouble !== undefined) throw new VolumeError(trouble);
    ready.set(uidOf(pod), mounted);
    plugins.set(
      uidOf(pod),
      wanted.map((volume) => ({
        plugin: pluginNameOf(volume, dialect),
        asDevice: isDevice(pod, volume.name),
      })),
    );
    return mounted;
  }

  function tell(pod: Pod, name: string, error: Error): string {
    const [reason, message] =
      error instanceof ClaimError
        ? [
            "FailedMount",
            `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${error.message}`,
          ]
        : error instanceof DeviceError
          ? ["FailedMapVolume", error.message]
          : [
              "FailedMount",
              `MountVolume.${error instanceof GitRefusal ? "NewMounter initialization" : "SetUp"} failed for volume ${JSON.stringify(name)} : ${fsErrorText(error)}`,
            ];
    events.event(referenceTo(pod), "Warning", reason, message);
    return message;
  }

  async function setUp(pod: Pod, volume: Volume): Promise<MountedVolume> {
    const uid = uidOf(pod);
    const { name, hostPath, emptyDir, nfs, persistentVolumeClaim, ephemeral, csi, gitRepo } = volume;
    const folder = await fill(pod, volume);
    if (folder !== undefined) return { hostPath: folder, readOnly: true, selinuxRelabel: true };
    if (hostPath) {
      await checkHostPath(hostPath.path, hostPath.type ?? "");
      return { hostPath: hostPath.path };
    }
    if (emptyDir) return { hostPath: await makeEmpty(pod, name, emptyDir), selinuxRelabel: true };
    if (nfs) return await network(folderOf(uid, "nfs", name), nfs, []);
    if (gitRepo) return { hostPath: await cloned(pod, name, gitRepo), selinuxRelabel: true };
    const use = { volumeName: name, asDevice: isDevice(pod, name), isForPod: ephemeral !== undefined };
    if (persistentVolumeClaim)
      return await claimed(
        pod,
        persistentVolumeClaim.claimName,
        persistentVolumeClaim.readOnly === true,
        use,
      );
    if (ephemeral) return await claimed(pod, `${nameOf(pod)}-${name}`, false, use);
    // Drivers cannot be registered here, so that none is ever among those that are.
    if (csi)
      throw new Error(
        `${dialect.names.volumes.pluginPrefix}csi: mounter.SetUpAt failed to get CSI client: driver name ${csi.driver} not found in the list of registered CSI drivers`,
      );
    // Nor can programs be put here that would look after such a volume.
    if (volume.flexVolume)
      throw new ClaimError(
        `failed to get Plugin from volumeSpec for volume ${JSON.stringify(name)} err=no volume plugin matched`,
      );
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "no source";
    throw new Error(`this agent has no way to mount a volume of kind ${kind}`);
  }

  /** Writes the files of a volume that the API server's objects fill; undefined for other kinds. */
  async function fill(
    pod: Pod,
    { name, configMap, secret, downwardAPI, projected }: Volume,
  ): Promise<string | undefined> {
    const [uid, namespace] = [uidOf(pod), namespaceOf(pod)];
    const modeOf = (source: { readonly defaultMode?: number | undefined }): number =>
      source.defaultMode ?? usualMode;
    if (configMap)
      return await write(
        pod,
        folderOf(uid, "configmap", name),
        await configMapPayload(sources, namespace, configMap.name ?? "", configMap, modeOf(configMap)),
        false,
      );
    if (secret)
      return await write(
        pod,
        folderOf(uid, "secret", name),
        await secretPayload(sources, namespace, secret.secretName ?? "", secret, modeOf(secret)),
        true,
      );
    if (downwardAPI)
      return await write(
        pod,
        folderOf(uid, "downward-api", name),
        downwardPayload(sources, pod, downwardAPI.items ?? [], modeOf(downwardAPI)),
        true,
      );
    if (projected)
      return await write(
        pod,
        folderOf(uid, "projected", name),
        await projectedPayload(sources, pod, projected.sources ?? [], projected.defaultMode),
        true,
      );
    return undefined;
  }

  async function write(pod: Pod, folder: string, payload: Payload, inMemory: boolean): Promise<string> {
    const group = fsGroupOf(pod);
    if (!ready.has(uidOf(pod))) {
      if (inMemory && !(await mounter.below(folder)).includes(folder))
        await mounter.tmpfs(folder, { ...sizeOf(pod, undefined), mode: sharedMode });
      await mkdir(folder, { recursive: true });
      await openToAll(folder);
      if (group !== undefined) await giveFolder(folder, group);
    }
    await writeAtomically(folder, payload, clock.now(), group);
    return folder;
  }

  async function makeEmpty(
    pod: Pod,
    name: string,
    emptyDir: NonNullable<Volume["emptyDir"]>,
  ): Promise<string> {
    const folder = folderOf(uidOf(pod), "empty-dir", name);
    const medium = emptyDir.medium ?? "";
    // One that is there belongs to the pod: what its containers did to it stays.
    if (medium === "" ? await isThere(folder) : (await mounter.below(folder)).includes(folder)) return folder;
    if (medium === "") {
      const fresh = `${folder}.new`;
      await mkdir(fresh, { recursive: true });
      await share(fresh, pod);
      await rename(fresh, folder);
      return folder;
    }
    await mkdir(folder, { recursive: true });
    if (medium === "Memory")
      await mounter.tmpfs(folder, { ...sizeOf(pod, emptyDir.sizeLimit), mode: sharedMode });
    else if (medium.startsWith("HugePages")) await mounter.hugetlbfs(folder, pageSizeOf(pod, medium));
    else throw new Error(`unknown storage medium ${JSON.stringify(medium)}`);
    await share(folder, pod);
    return folder;
  }

  /** The least of what the volume, the pod and the node allow; undefined when nothing is known. */
  function sizeOf(pod: Pod, limit: string | undefined): { sizeBytes?: number } {
    const bytes = (amount: string | undefined): number => (amount ? quantityValue(parseQuantity(amount)) : 0);
    const every = [...containersOf(pod), ...initContainersOf(pod)];
    const limits = every.map(({ resources }) => bytes(resources?.limits?.["memory"]));
    const ofPod = limits.every((amount) => amount > 0) ? limits.reduce((sum, amount) => sum + amount, 0) : 0;
    const known = [bytes(node.allocatable()["memory"]), ofPod, bytes(limit)].filter((amount) => amount > 0);
    return known.length > 0 ? { sizeBytes: Math.min(...known) } : {};
  }

  async function network(
    folder: string,
    {
      server,
      path,
      readOnly,
    }: { readonly server: string; readonly path: string; readonly readOnly?: boolean | undefined },
    mountOptions: readonly string[],
  ): Promise<MountedVolume> {
    if (!(await mounter.below(folder)).includes(folder)) {
      const host = server.includes(":") && !server.startsWith("[") ? `[${server}]` : server;
      await mounter.network("nfs", `${host}:${path}`, folder, [...(readOnly ? ["ro"] : []), ...mountOptions]);
    }
    return { hostPath: folder, ...(readOnly && { readOnly }) };
  }

  async function cloned(pod: Pod, name: string, gitRepo: NonNullable<Volume["gitRepo"]>): Promise<string> {
    const folder = folderOf(uidOf(pod), "git-repo", name);
    if (await isThere(folder)) return folder;
    const fresh = `${folder}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    await fillFromGit(options.git ?? systemGit, fresh, gitRepo);
    await share(fresh, pod);
    await rename(fresh, folder);
    return folder;
  }

  async function claimed(
    pod: Pod,
    claimName: string,
    readOnly: boolean,
    use: ClaimUse,
  ): Promise<MountedVolume> {
    const volume = await boundVolume(options.client, node, pod, claimName, use);
    const { hostPath, local, nfs, mountOptions } = volume.spec;
    const pvName = volume.metadata.name!;
    if (use.asDevice) {
      if (!local)
        throw new DeviceError(
          "FindMapperPluginBySpec",
          pvName,
          "only volumes of the kind local can be block devices",
        );
      const link = join(podsFolder, uidOf(pod), "volumeDevices", kindFolder("local-volume"), pvName);
      if (await linkDevice(pvName, local.path, link))
        events.event(
          referenceTo(pod),
          "Normal",
          "SuccessfulMountVolume",
          `MapVolume.MapPodDevice succeeded for volume ${JSON.stringify(pvName)} volumeMapPath ${JSON.stringify(dirname(link))}`,
        );
      return { hostPath: link, isDevice: true, ...(readOnly && { readOnly }) };
    }
    if (hostPath) {
      await checkHostPath(hostPath.path, hostPath.type ?? "");
      return { hostPath: hostPath.path, ...(readOnly && { readOnly }) };
    }
    if (nfs)
      return await network(
        folderOf(uidOf(pod), "nfs", pvName),
        { ...nfs, readOnly: readOnly || nfs.readOnly === true },
        mountOptions ?? [],
      );
    if (local) {
      const folder = folderOf(uidOf(pod), "local-volume", pvName);
      if (!(await mounter.below(folder)).includes(folder)) {
        await checkHostPath(local.path, "Directory");
        await mkdir(folder, { recursive: true, mode: 0o750 });
        await mounter.bind(local.path, folder);
      }
      const group = fsGroupOf(pod);
      if (group !== undefined && !readOnly)
        await giveToGroup(folder, group, {
          onlyOnMismatch: pod.spec.securityContext?.fsGroupChangePolicy === "OnRootMismatch",
        });
      return { hostPath: folder, ...(readOnly && { readOnly }), selinuxRelabel: true };
    }
    throw new Error(`PersistentVolume ${pvName} is of a kind that this agent has no way to mount`);
  }
}

/** Opens a folder to everybody in the pod. */
async function share(folder: string, pod: Pod): Promise<void> {
  await openToAll(folder);
  const group = fsGroupOf(pod);
  if (group !== undefined) await giveToGroup(folder, group);
}

const never = new AbortController().signal;
const ignoreVolumeError = (error: unknown): void => {
  if (!(error instanceof VolumeError)) throw error;
};
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Further bits that a folder has stay. */
async function openToAll(folder: string): Promise<void> {
  if (((await stat(folder)).mode & 0o777) !== 0o777) await chmod(folder, 0o777);
}

/** A volume that no container uses is not set up. */
const isUsed = (pod: Pod, name: string): boolean =>
  isDevice(pod, name) ||
  everyContainerOf(pod).some(({ volumeMounts }) => volumeMounts?.some((mount) => mount.name === name));
const isDevice = (pod: Pod, name: string): boolean =>
  everyContainerOf(pod).some(({ volumeDevices }) => volumeDevices?.some((device) => device.name === name));

function fsGroupOf(pod: Pod): number | undefined {
  const group = pod.spec.securityContext?.fsGroup;
  return group === undefined || group === null ? undefined : Number(group);
}

/** The page size that the medium names, or the only one that the pod asks for. */
function pageSizeOf(pod: Pod, medium: string): string {
  if (medium.startsWith("HugePages-")) return medium.slice("HugePages-".length).replace(/i$/, "");
  const sizes = new Set(
    everyContainerOf(pod).flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter((key) => key.startsWith("hugepages-")),
    ),
  );
  if (sizes.size !== 1)
    throw new Error(
      `medium ${JSON.stringify(medium)} can only be used if container requests or limits have exactly one huge page size`,
    );
  return [...sizes][0]!.slice("hugepages-".length).replace(/i$/, "");
}
