// Volume plugins without objects from the API server: host paths, empty directories, local volumes and
// devices, git clones, NFS exports.
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Pod, Volume } from "#api";
import { parseQuantity, quantityValue } from "#base";
import { fsErrorText } from "../../errors.ts";
import type { EventRecorder, VolumePlugin, VolumeSpec } from "../../interfaces.ts";
import { containersOf, initContainersOf, referenceTo } from "../../pod.ts";
import { podLimits } from "../../resources/pod-cgroups.ts";
import { linkDevice } from "../device.ts";
import { type Git, fillFromGit } from "../git-repo.ts";
import { fileSystemStats } from "../file-system-stats.ts";
import { checkHostPath } from "../host-path.ts";
import type { Mounter } from "../mounter.ts";
import { VolumeOperationError } from "../operation-error.ts";
import { setGroupRecursively } from "../ownership.ts";
import { fsGroupOf, share } from "./sharing.ts";

export interface LocalPluginOptions {
  readonly mounter: Mounter;
  readonly git: Git;
  readonly events: EventRecorder;
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** Volumes in memory get the kernel's default size. */
  readonly unlimitedMemory?: boolean;
}

/** Mode of a tmpfs: all users may write, and remove only their own files. */
export const sharedMode = "1777";

/** Returns the volume source: of the pod itself, or of the volume bound to its claim. */
const sourceOf = ({ volume, persistent }: VolumeSpec) => persistent?.spec ?? volume;
const readOnlyIf = (readOnly: boolean): { readonly readOnly?: true } => (readOnly ? { readOnly: true } : {});
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export function localPlugins(options: LocalPluginOptions): VolumePlugin[] {
  const { mounter, git, events, allocatable, unlimitedMemory } = options;
  const isMounted = async (directory: string): Promise<boolean> =>
    (await mounter.below(directory)).includes(directory);

  const hostPath: VolumePlugin = {
    name: "host-path",
    supports: (spec) => Boolean(sourceOf(spec).hostPath),
    mount: async (_, spec) => {
      const { path, type } = sourceOf(spec).hostPath!;
      await checkHostPath(path, type ?? "");
      return { hostPath: path, isForeign: true, ...readOnlyIf(spec.readOnly) };
    },
  };

  const emptyDir: VolumePlugin = {
    name: "empty-dir",
    supports: ({ volume }) => Boolean(volume.emptyDir),
    mount: async (pod, { volume }, directory) => {
      await makeEmpty(pod, volume.emptyDir!, directory);
      return { hostPath: directory, selinuxRelabel: true };
    },
  };

  const nfs: VolumePlugin = {
    name: "nfs",
    supports: (spec) => Boolean(sourceOf(spec).nfs),
    mount: async (_, spec, directory, signal) => {
      const { server, path, readOnly: requested } = sourceOf(spec).nfs!;
      const readOnly = spec.readOnly || requested === true;
      if (!(await isMounted(directory))) {
        const host = server.includes(":") && !server.startsWith("[") ? `[${server}]` : server;
        const options = new Set([...(readOnly ? ["ro"] : []), ...(spec.persistent?.spec.mountOptions ?? [])]);
        await mounter.network("nfs", `${host}:${path}`, directory, [...options].toSorted(), signal);
      }
      return { hostPath: directory, ...readOnlyIf(readOnly) };
    },
  };

  const gitRepo: VolumePlugin = {
    name: "git-repo",
    supports: ({ volume }) => Boolean(volume.gitRepo),
    mount: async (pod, { volume }, directory) => {
      if (!(await exists(directory))) {
        const fresh = `${directory}.new`;
        await rm(fresh, { recursive: true, force: true });
        await mkdir(fresh, { recursive: true });
        await fillFromGit(git, fresh, volume.gitRepo!);
        await share(fresh, pod);
        await rename(fresh, directory);
      }
      return { hostPath: directory, selinuxRelabel: true };
    },
  };

  const local: VolumePlugin = {
    name: "local-volume",
    supports: ({ persistent }) => Boolean(persistent?.spec.local),
    mount: async (pod, { persistent, readOnly }, directory) => {
      const { path } = persistent!.spec.local!;
      const name = persistent!.metadata.name!;
      const mounted = { hostPath: directory, ...readOnlyIf(readOnly), selinuxRelabel: true };
      if (await isMounted(directory)) return mounted;
      await checkLocalPath(name, path);
      const group = fsGroupOf(pod);
      // As in the kubelet, only the first of the pods that share the volume sets its group.
      const isShared = (await mountsOfPods(mounter, directory)).length > 0;
      if (group !== undefined && isShared) {
        const { gid } = await stat(path);
        const message = `The requested fsGroup is ${group}, but the volume ${name} has GID ${gid}. The volume may not be shareable.`;
        if (gid !== group) events.event(referenceTo(pod), "Warning", "AlreadyMountedVolume", message);
      }
      await mkdir(directory, { recursive: true, mode: 0o750 });
      await mounter.bind(path, directory);
      if (group !== undefined && !readOnly && !isShared)
        await setGroupRecursively(directory, group, {
          onlyOnMismatch: pod.spec.securityContext?.fsGroupChangePolicy === "OnRootMismatch",
        });
      return mounted;
    },
    // As in the kubelet, that of the whole file system.
    stats: fileSystemStats,
    map: async (pod, { persistent, readOnly }, link) => {
      const name = persistent!.metadata.name!;
      if (await linkDevice(name, persistent!.spec.local!.path, link)) {
        const at = `volumeMapPath ${JSON.stringify(dirname(link))}`;
        const message = `MapVolume.MapPodDevice succeeded for volume ${JSON.stringify(name)} ${at}`;
        events.event(referenceTo(pod), "Normal", "SuccessfulMountVolume", message);
      }
      return { hostPath: link, isDevice: true, ...readOnlyIf(readOnly) };
    },
  };
  return [hostPath, emptyDir, nfs, gitRepo, local];

  async function makeEmpty(
    pod: Pod,
    { medium = "", sizeLimit }: NonNullable<Volume["emptyDir"]>,
    directory: string,
  ): Promise<void> {
    // An existing directory belongs to the pod: changes by its containers are kept.
    if (medium === "" ? await exists(directory) : await isMounted(directory)) return;
    if (medium === "") {
      const fresh = `${directory}.new`;
      await mkdir(fresh, { recursive: true });
      await share(fresh, pod);
      await rename(fresh, directory);
      return;
    }
    await mkdir(directory, { recursive: true });
    if (medium === "Memory")
      await mounter.tmpfs(directory, {
        ...(!unlimitedMemory && memorySize(pod, allocatable(), sizeLimit)),
        mode: sharedMode,
      });
    else if (medium.startsWith("HugePages")) await mounter.hugetlbfs(directory, pageSizeOf(pod, medium));
    else throw new Error(`unknown storage medium ${JSON.stringify(medium)}`);
    await share(directory, pod);
  }
}

/** Rejects a local volume that does not exist or is not a directory, before anything is mounted. */
async function checkLocalPath(name: string, path: string): Promise<void> {
  const failed = (why: string, cause?: unknown): Error =>
    new VolumeOperationError("FailedMount", "MountVolume.NewMounter initialization failed", name, why, {
      cause,
    });
  const found = await stat(path).catch((error: Error & { code?: string }) => {
    const isMissing = error.code === "ENOENT";
    throw failed(isMissing ? `path ${JSON.stringify(path)} does not exist` : fsErrorText(error), error);
  });
  if (found.isBlockDevice())
    throw failed(`${path} is a block device, which this agent does not format: use volumeMode Block`);
  if (!found.isDirectory()) throw failed("only directory and block device are supported");
}

/** Returns the directories of other pods at which the volume of this directory is mounted. */
async function mountsOfPods(mounter: Mounter, directory: string): Promise<readonly string[]> {
  const segments = directory.split("/");
  const below = `/${segments.slice(-3).join("/")}`;
  const points = await mounter.below(segments.slice(0, -4).join("/"));
  return points.filter((point) => point !== directory && point.endsWith(below));
}

/** Returns the smallest of the limits of volume, pod and node; empty if no limit is known. */
export function memorySize(
  pod: Pod,
  allocatable: Readonly<Record<string, string>>,
  limit: string | undefined,
): { readonly sizeBytes?: number } {
  const bytes = (amount: string | undefined): number => (amount ? quantityValue(parseQuantity(amount)) : 0);
  // The limit of the pod's cgroup, in which the memory is counted.
  const ofPod = podLimits(pod, { quota: false, periodMicroseconds: 0 }).memoryBytes ?? 0;
  const known = [bytes(allocatable["memory"]), ofPod, bytes(limit)].filter((amount) => amount > 0);
  return known.length > 0 ? { sizeBytes: Math.min(...known) } : {};
}

/** Returns the page size named by the medium, or else the only one the pod requests. */
function pageSizeOf(pod: Pod, medium: string): string {
  const requested = new Set(
    [...containersOf(pod), ...initContainersOf(pod)].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter((key) => key.startsWith("hugepages-")),
    ),
  );
  const named = medium === "HugePages" ? undefined : `hugepages-${medium.slice("HugePages-".length)}`;
  const sizes = [...requested].filter((size) => named === undefined || size === named);
  if (sizes.length > 1)
    throw new Error(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  const [size] = sizes;
  if (size === undefined)
    throw new Error(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    );
  return size.slice("hugepages-".length).replace(/i$/, "");
}
