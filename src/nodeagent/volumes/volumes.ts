// The volumes of pods: set up before the first container starts, refreshed while the pod runs, and torn down
// after it ended.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Pod, Volume } from "#api";
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { Dialect } from "#dialect";
import { fsErrorText } from "../errors.ts";
import {
  type EventRecorder,
  type MountedVolume,
  type NodeFacts,
  type PodVolumes,
  type ReferencedObjects,
  VolumeError,
  type VolumeMetrics,
  type VolumePlugin,
  type VolumeSpec,
} from "../interfaces.ts";
import { everyContainerOf, keyOf, nameOf, referenceTo, uidOf } from "../pod.ts";
import { ClaimError, boundVolume } from "./claims.ts";
import { DeviceError } from "./device.ts";
import { type Git, GitVolumeError, systemGit } from "./git-repo.ts";
import type { Mounter } from "./mounter.ts";
import { VolumeOperationError } from "./operation-error.ts";
import type { PayloadSources } from "./payload.ts";
import { pluginNameOf } from "./plugin-name.ts";
import { localPlugins } from "./plugins/local-plugins.ts";
import { payloadPlugins } from "./plugins/payload-plugins.ts";
import { reconstruction } from "./reconstruction.ts";
import { bindInside } from "./sub-path.ts";
import { teardownVolumes } from "./teardown.ts";
import { type PodTokens, podTokens } from "./tokens.ts";

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
  readonly volumeMetrics?: VolumeMetrics;
  /** Additional volume plugins, tried first. */
  readonly plugins?: readonly VolumePlugin[];
  readonly tokens?: PodTokens;
  /** Root directory of all pods. */
  readonly podsFolder: string;
  /** Leaves volumes of ended pods mounted. */
  readonly keepTerminated?: boolean;
  readonly unlimitedMemory?: boolean;
}

export interface RunningVolumes extends PodVolumes {
  /** Returns path and limit of the pod's emptyDirs on disk that have a size limit. */
  limited(pod: Pod): readonly { readonly volume: string; readonly path: string; readonly limit: string }[];
  /** Finds the volumes of an earlier agent; called once, before any pod. */
  reconstruct(): Promise<void>;
  /** Returns a pod's mounted volumes by name; empty until they are set up. */
  places(podUid: string): ReadonlyMap<string, MountedVolume>;
}

const firstRetryMilliseconds = 500;
const maxRetryMilliseconds = 122_000;
/**
 * How long the kubelet waits for all volumes of a pod before it reports a timeout and starts waiting again.
 */
const patienceMilliseconds = 123_000;

interface Failure {
  readonly message: string;
  /** The claim failed, not the volume: it is reported at once, without waiting for the timeout. */
  readonly isOfClaim: boolean;
  readonly firstAt: number;
  readonly at: number;
  readonly wait: number;
}

export function podVolumes(options: VolumesOptions): RunningVolumes {
  const { dialect, clock, log, events, objects, node, mounter, podsFolder, volumeMetrics } = options;
  const tokens = options.tokens ?? podTokens(options);
  const sources: PayloadSources = {
    objects,
    allocatable: () => node.allocatable(),
    token: (pod, audience, seconds) => tokens.get(pod, audience, seconds),
  };
  const volumePlugins: readonly VolumePlugin[] = [
    ...(options.plugins ?? []),
    ...payloadPlugins({ clock, mounter, sources }),
    ...localPlugins({
      mounter,
      git: options.git ?? systemGit,
      events,
      allocatable: () => node.allocatable(),
      ...(options.unlimitedMemory && { unlimitedMemory: true }),
    }),
  ];
  const ready = new Map<string, Map<string, MountedVolume>>();
  /** The plugin of each volume that was set up, by pod uid and volume name. */
  const pluginOf = new Map<string, Map<string, VolumePlugin>>();
  const failures = new Map<string, Failure>();
  /** When waiting for a pod's volumes started. */
  const waitingSince = new Map<string, number>();
  /** The plugins of each pod's mounted volumes, for metrics. */
  const plugins = new Map<string, readonly { readonly plugin: string; readonly asDevice: boolean }[]>();
  const busy = new Map<string, Promise<unknown>>();
  const kindFolder = (kind: string): string =>
    `${dialect.names.volumes.pluginPrefix.replaceAll("/", "~")}${kind}`;
  const folderOf = (uid: string, kind: string, name: string): string =>
    join(podsFolder, uid, "volumes", kindFolder(kind), name);
  const reconstructed = reconstruction({ podsFolder, plugins: volumePlugins, kindFolder, volumeMetrics });

  return {
    reconstruct: () => reconstructed.run(),
    places: (uid) => ready.get(uid) ?? new Map(),
    limited: (pod) =>
      (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }) => {
        const limit = emptyDir && !emptyDir.medium ? emptyDir.sizeLimit : undefined;
        return limit && limit !== "0"
          ? [{ volume: name, path: folderOf(uidOf(pod), "empty-dir", name), limit }]
          : [];
      }),
    mount: (pod, signal) => serialized(uidOf(pod), () => mountAll(pod, signal), signal),
    subPath: async (pod, volume, at) => {
      const target = join(
        podsFolder,
        uidOf(pod),
        "volume-subpaths",
        at.volumeName,
        at.container,
        String(at.index),
      );
      // A system call on a file system whose server is gone would never return.
      await mounter.answers(volume.hostPath);
      try {
        await bindInside(mounter, volume.hostPath, at.path, target);
        return target;
      } catch (error) {
        log.error("failed to prepare subPath", {
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
      serialized(uidOf(pod), async () => {
        if (!ready.has(uidOf(pod))) {
          // Adopt the volumes of an earlier agent: existing mounts stay, files are written again.
          if (await exists(join(podsFolder, uidOf(pod), "volumes")))
            await mountAll(pod, never).catch(ignoreVolumeError);
          return;
        }
        for (const volume of pod.spec.volumes ?? []) {
          if (!isUsed(pod, volume.name)) continue;
          try {
            await refreshOne(pod, volume);
          } catch (error) {
            reportFailure(pod, volume.name, error as Error);
          }
        }
      }),
    release: (uid) =>
      serialized(uid, async () => {
        if (options.keepTerminated) return;
        const at = clock.monotonic();
        const recordRelease = (isGood: boolean): void => {
          reconstructed.released(uid, isGood);
          for (const { plugin, asDevice } of plugins.get(uid) ?? [])
            volumeMetrics?.tried(
              asDevice ? "unmap_volume" : "volume_unmount",
              plugin,
              clock.monotonic() - at,
              isGood,
            );
        };
        try {
          await teardownVolumes(mounter, join(podsFolder, uid), () => undoByPlugin(uid));
        } catch (error) {
          recordRelease(false);
          throw error;
        }
        recordRelease(true);
        plugins.delete(uid);
        pluginOf.delete(uid);
        ready.delete(uid);
        tokens.forget(uid);
        waitingSince.delete(uid);
        for (const key of failures.keys()) if (key.startsWith(`${uid}/`)) failures.delete(key);
      }),
  };

  /** Updates the content of a mounted volume, if its plugin supports that. */
  async function refreshOne(pod: Pod, volume: Volume): Promise<void> {
    const plugin = pluginOf.get(uidOf(pod))?.get(volume.name);
    const asDevice = isDevice(pod, volume.name);
    if (!(asDevice ? plugin?.refreshDevice : plugin?.refresh)) return;
    const spec = await specOf(pod, volume);
    if (!asDevice) await plugin!.refresh!(pod, spec, directoryOf(pod, spec, plugin!));
    else await plugin!.refreshDevice!(pod, spec, linkOf(pod, spec.persistent!.metadata.name!, plugin!));
  }

  /** Serializes the operations on one pod's volumes. */
  async function serialized<T>(uid: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begin = (): Promise<T> => {
      signal?.throwIfAborted();
      return run();
    };
    const turn = (busy.get(uid) ?? Promise.resolve()).then(begin, begin);
    const settled = turn.catch(() => undefined);
    busy.set(uid, settled);
    try {
      return await (signal ? abortable(turn, signal) : turn);
    } finally {
      void settled.then(() => busy.get(uid) === settled && busy.delete(uid));
    }
  }

  async function mountAll(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>> {
    const known = ready.get(uidOf(pod));
    const wanted = (pod.spec.volumes ?? []).filter(({ name }) => isUsed(pod, name));
    if (known && wanted.every(({ name }) => known.has(name))) return known;
    const mounted = new Map<string, MountedVolume>();
    let firstError: string | undefined;
    for (const volume of wanted) {
      signal.throwIfAborted();
      const key = `${uidOf(pod)}/${volume.name}`;
      const failed = failures.get(key);
      if (failed && clock.monotonic() - failed.at < failed.wait) {
        firstError ??= failed.message;
        continue;
      }
      const begunAt = clock.monotonic();
      const [operation, plugin] = [
        isDevice(pod, volume.name) ? ("map_volume" as const) : ("volume_mount" as const),
        pluginNameOf(volume, dialect),
      ];
      const firstAt = failed?.firstAt ?? begunAt;
      try {
        mounted.set(volume.name, await setUp(pod, volume, signal));
        failures.delete(key);
        volumeMetrics?.tried(operation, plugin, clock.monotonic() - begunAt, true);
        volumeMetrics?.inPlace(operation, plugin, clock.monotonic() - firstAt);
      } catch (error) {
        volumeMetrics?.tried(operation, plugin, clock.monotonic() - begunAt, false);
        const message = reportFailure(pod, volume.name, error as Error);
        failures.set(key, {
          message,
          isOfClaim: error instanceof ClaimError,
          firstAt,
          at: clock.monotonic(),
          wait: Math.min(maxRetryMilliseconds, failed ? failed.wait * 2 : firstRetryMilliseconds),
        });
        firstError ??= message;
      }
    }
    if (firstError !== undefined) {
      reportTimeout(
        pod,
        wanted.filter(({ name }) => !mounted.has(name)),
      );
      throw new VolumeError(firstError);
    }
    waitingSince.delete(uidOf(pod));
    reconstructed.mounted(uidOf(pod));
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

  function reportTimeout(pod: Pod, unmounted: readonly Volume[]): void {
    const uid = uidOf(pod);
    if (unmounted.some(({ name }) => failures.get(`${uid}/${name}`)?.isOfClaim)) {
      waitingSince.delete(uid);
      return;
    }
    const since = waitingSince.get(uid) ?? clock.monotonic();
    const isLate = clock.monotonic() - since >= patienceMilliseconds;
    waitingSince.set(uid, isLate ? clock.monotonic() : since);
    if (!isLate) return;
    const names = unmounted.map(({ name }) => name).toSorted();
    events.event(
      referenceTo(pod),
      "Warning",
      "FailedMount",
      `Unable to attach or mount volumes: unmounted volumes=[${names.join(" ")}], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition`,
    );
  }

  function reportFailure(pod: Pod, name: string, error: Error): string {
    const [reason, message] =
      error instanceof ClaimError
        ? [
            "FailedMount",
            `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${error.message}`,
          ]
        : error instanceof VolumeOperationError
          ? [error.reason, error.message]
          : [
              "FailedMount",
              `MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${fsErrorText(error)}`,
            ];
    events.event(referenceTo(pod), "Warning", reason, message);
    return message;
  }

  async function setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<MountedVolume> {
    const spec = await specOf(pod, volume);
    const plugin = pluginFor(spec);
    const name = spec.persistent?.metadata.name ?? volume.name;
    const gid = spec.persistent?.metadata.annotations?.[dialect.names.annotations.volumeGid];
    const group = gid ? { group: gid } : {};
    pluginOf.set(uidOf(pod), (pluginOf.get(uidOf(pod)) ?? new Map()).set(volume.name, plugin));
    if (spec.persistent && isDevice(pod, volume.name)) {
      if (!plugin.map)
        throw new DeviceError("FindMapperPluginBySpec", name, "volumes of this kind cannot be block devices");
      const device = await plugin
        .map(pod, spec, linkOf(pod, name, plugin), signal)
        .catch((error: unknown) => {
          if (error instanceof VolumeOperationError || error instanceof ClaimError) throw error;
          throw new DeviceError("MapPodDevice", name, fsErrorText(error as Error), { cause: error });
        });
      return { ...device, ...group };
    }
    const directory = directoryOf(pod, spec, plugin);
    const mounted = await plugin.mount(pod, spec, directory, signal).catch((error: unknown) => {
      if (error instanceof VolumeOperationError || error instanceof ClaimError) throw error;
      const step = error instanceof GitVolumeError ? "NewMounter initialization" : "SetUp";
      const why = fsErrorText(error as Error);
      throw new VolumeOperationError("FailedMount", `MountVolume.${step} failed`, name, why, {
        cause: error,
      });
    });
    return { ...mounted, ...group, ...(plugin.stats && { stats: () => plugin.stats!(directory) }) };
  }

  function directoryOf(pod: Pod, { volume, persistent }: VolumeSpec, { name }: VolumePlugin): string {
    return folderOf(uidOf(pod), name, persistent?.metadata.name ?? volume.name);
  }

  function linkOf(pod: Pod, name: string, plugin: VolumePlugin): string {
    return join(podsFolder, uidOf(pod), "volumeDevices", kindFolder(plugin.name), name);
  }

  /** Returns the volume of the pod together with the volume bound to its claim. */
  async function specOf(pod: Pod, volume: Volume): Promise<VolumeSpec> {
    const { name, persistentVolumeClaim: claim, ephemeral } = volume;
    if (!claim && !ephemeral) return { volume, readOnly: false };
    const use = { volumeName: name, asDevice: isDevice(pod, name), isForPod: ephemeral !== undefined };
    const claimName = claim ? claim.claimName : `${nameOf(pod)}-${name}`;
    const bound = await boundVolume(options.client, node, pod, claimName, use);
    return { volume, ...bound, readOnly: claim?.readOnly === true };
  }

  function pluginFor(spec: VolumeSpec): VolumePlugin {
    const found = volumePlugins.find((plugin) => plugin.supports(spec));
    if (found) return found;
    const { volume, persistent } = spec;
    if (persistent)
      throw new Error(
        `PersistentVolume ${persistent.metadata.name} is of a kind that this agent has no way to mount`,
      );
    if (volume.flexVolume)
      throw new ClaimError(
        `failed to get Plugin from volumeSpec for volume ${JSON.stringify(volume.name)} err=no volume plugin matched`,
      );
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "no source";
    throw new Error(`this agent has no way to mount a volume of kind ${kind}`);
  }

  /** Runs the plugins' own unmount and unmap for a pod's volumes, which are found by their directories. */
  async function undoByPlugin(uid: string): Promise<void> {
    for (const [folder, undoOf] of [
      ["volumes", (plugin: VolumePlugin) => plugin.unmount],
      ["volumeDevices", (plugin: VolumePlugin) => plugin.unmap],
    ] as const) {
      const kinds: string[] = await readdir(join(podsFolder, uid, folder)).catch(() => []);
      for (const plugin of kinds.length > 0 ? volumePlugins : []) {
        const undo = undoOf(plugin);
        if (!undo || !kinds.includes(kindFolder(plugin.name))) continue;
        const parent = join(podsFolder, uid, folder, kindFolder(plugin.name));
        for (const name of await readdir(parent).catch(() => [])) await undo(uid, name, join(parent, name));
      }
    }
  }
}

const never = new AbortController().signal;
const ignoreVolumeError = (error: unknown): void => {
  if (!(error instanceof VolumeError)) throw error;
};
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Reports whether a container uses the volume; others are not set up. */
const isUsed = (pod: Pod, name: string): boolean =>
  isDevice(pod, name) ||
  everyContainerOf(pod).some(({ volumeMounts }) => volumeMounts?.some((mount) => mount.name === name));
const isDevice = (pod: Pod, name: string): boolean =>
  everyContainerOf(pod).some(({ volumeDevices }) => volumeDevices?.some((device) => device.name === name));

/** Waits for the promise until the signal aborts; the awaited operation then continues in the background. */
async function abortable<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([
      awaited,
      new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error), { signal: over.signal }),
      ),
    ]);
  } finally {
    over.abort();
  }
}
