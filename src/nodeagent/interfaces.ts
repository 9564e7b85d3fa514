// What the parts of the agent ask of each other. agent.ts puts the parts together; nothing else knows all of
// them.
import type {
  ConfigMap,
  Container,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Volume,
} from "#api";
import type { Device, LinuxContainerResources, Mount } from "#cri";

/** A volume as containers can mount it. */
export interface MountedVolume {
  readonly hostPath: string;
  /** Whether it must be mounted read-only whatever the container asks for. */
  readonly readOnly?: boolean;
  readonly selinuxRelabel?: boolean;
  /** A device that is given to containers, not mounted; the path is a link to it. */
  readonly isDevice?: boolean;
  /** How full it is, where the file system of the path does not tell. */
  readonly stats?: () => Promise<VolumeStats>;
}

/** One entry of a container's volumeMounts that names a path inside the volume. */
export interface SubPath {
  readonly container: string;
  /** The place of the entry in the container's list. */
  readonly index: number;
  readonly volumeName: string;
  readonly path: string;
}

/** A volume that cannot be had, now. The event FailedMount was made by whoever throws this. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
}

/**
 * Nothing of the pod is mounted any more, but something lies in its folder that the agent did not put there,
 * and stays.
 */
export class LeftoverError extends Error {
  override readonly name = "LeftoverError";
}

/** A volume as a plug-in gets it: the entry of the pod, its claim, and the persistent volume behind that. */
export interface VolumeSpec {
  readonly volume: Volume;
  readonly claim?: PersistentVolumeClaim;
  readonly persistent?: PersistentVolume;
  readonly readOnly: boolean;
}

/** Bytes and inodes of a mounted volume. */
export interface VolumeStats {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

/**
 * One kind of volume. Every operation is safe to repeat; `directory` is the volume's own directory below the
 * pod's, `volumes/<plug-in>/<name>`.
 */
export interface VolumePlugin {
  /** The name below the volume plug-in prefix, such as `empty-dir`. */
  readonly name: string;
  supports(spec: VolumeSpec): boolean;
  mount(pod: Pod, spec: VolumeSpec, directory: string, signal: AbortSignal): Promise<MountedVolume>;
  /** Brings the contents of a mounted volume up to date; absent where nothing changes. */
  refresh?(pod: Pod, spec: VolumeSpec, directory: string): Promise<void>;
  /**
   * Undoes `mount`, also of an earlier agent's: all that is known is the directory. Absent where the generic
   * teardown (unmount what is below, remove the directory) will do.
   */
  unmount?(podUid: string, name: string, directory: string): Promise<void>;
  /** Makes the volume available as a block device; absent where there are no such volumes. */
  map?(pod: Pod, spec: VolumeSpec, link: string, signal: AbortSignal): Promise<MountedVolume>;
  unmap?(podUid: string, name: string, link: string): Promise<void>;
  /** Whether a volume of an earlier agent can be undone by what lies in its directory; absent where all can. */
  isRecorded?(directory: string): Promise<boolean>;
  /** Absent where the file system of the directory tells. */
  stats?(directory: string): Promise<VolumeStats>;
}

/** What a part of the agent adds to a container that is about to be created. */
export interface ContainerContribution {
  /** Merged over what requests and limits say: cpuset, mems, unified and the like. */
  readonly resources?: Partial<LinuxContainerResources>;
  readonly devices?: readonly Device[];
  readonly cdiDevices?: readonly string[];
  /** The container's own variables win. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A part that allocates resources of the node to containers: processors, memory, devices. */
export interface ContainerContributor {
  /** Asked for each container right before it is created; may reject with why it cannot be. */
  contribute(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerContribution>;
  /** The container was created under this id and is about to start. */
  created?(pod: Pod, container: Container, containerId: string): void;
  /** The pod is gone from this node: what it had is free again. */
  release?(podUid: string): void;
}

/** Small named documents that outlive the agent: state of the resource managers and the like. */
export interface CheckpointStore {
  /** Undefined when there is none. */
  read(name: string): Promise<string | undefined>;
  /** Durable when it resolves; readers see the old text or the new one, never a part. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  names(): Promise<readonly string[]>;
}

/** The volumes of pods. */
export interface PodVolumes {
  /**
   * Sets up what the pod's containers mount; safe to call again. Rejects with VolumeError while something
   * is missing.
   */
  mount(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>>;
  /**
   * The host path of a path inside a mounted volume, made if absent and bound so that it cannot be moved
   * away.
   */
  subPath(pod: Pod, volume: MountedVolume, at: SubPath, signal: AbortSignal): Promise<string>;
  /** Brings config maps, secrets, downward values and tokens of a running pod up to date. */
  refresh(pod: Pod): Promise<void>;
  /** Unmounts and removes the pod's volumes and sub paths. The rest of the pod's folder is removed by the caller. Safe to call again.
   * Rejects with LeftoverError when all is unmounted and what others put there is left. */
  release(podUid: string): Promise<void>;
}

/** The control groups of pods. Names come from the pure functions in plan/. */
export interface PodCgroups {
  /**
   * Makes the pod's group with its limits; gives the name that the sandbox gets as its parent. Safe to call
   * again.
   */
  ensure(pod: Pod): Promise<string>;
  /**
   * The pod's new limits of one resource where they are larger than those of the kernel, before its containers
   * grow, or smaller, after they have shrunk.
   */
  resize?(pod: Pod, resource: "cpu" | "memory", when: "before" | "after"): Promise<void>;
  /** Ends what still runs in the pod's group and removes it. Safe to call again. */
  release(podUid: string): Promise<void>;
  /** Uids of pods that have a group. */
  podUids(): Promise<ReadonlySet<string>>;
}

export type { EventRecorder } from "#client";

/** `preempts` are pods that must end first, for want of what `lacking` names. */
export type Admitted =
  | { readonly ok: true; readonly preempts?: readonly Pod[]; readonly lacking?: string }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/**
 * One of the things that may speak against a pod, asked in order after the general rules; the first refusal
 * counts. A resource manager allocates here.
 */
export interface PodAdmitHandler {
  admit(pod: Pod, others: readonly Pod[]): Admitted;
}

/** Whether a pod may run on this node, beside these others. */
export interface PodAdmission {
  /** One that ran before this agent started is asked about again, beside those that were there before it. */
  admit(pod: Pod, others: readonly Pod[], ran?: boolean): Admitted;
  /**
   * Has from others what an admitted pod was promised, before anything of it is made: devices of their
   * plug-ins. Safe to call again.
   */
  confirm?(pod: Pod, signal: AbortSignal): Promise<Admitted>;
  /** Why a pod that was admitted cannot be started now; it waits until it can. */
  blocks?(pod: Pod): { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Config maps and secrets that pods of this node refer to. Undefined when there is none; throws when it
 * cannot be known.
 */
export interface ReferencedObjects {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  /** Keeps what the pod refers to close at hand. */
  watch(pod: Pod): void;
  forget(podUid: string): void;
}

/** The node as pods see it. */
export interface NodeFacts {
  readonly name: string;
  /** At most one of each family, the preferred first. */
  hostIps(): readonly string[];
  /** What pods may use together, as quantities. */
  allocatable(): Readonly<Record<string, string>>;
  labels(): Readonly<Record<string, string>>;
}

/** One container of a pod as the runtime tells it. */
export interface ContainerHandle {
  readonly name: string;
  readonly id: string;
  readonly state: "created" | "running" | "exited" | "unknown";
  /** How many of that name there were before. */
  readonly attempt: number;
  readonly logPath: string;
}

/** The pods of this node, for those who show them or reach into them. */
export interface PodRegistry {
  /** All pods with their newest status. */
  pods(): readonly Pod[];
  byName(namespace: string, name: string): Pod | undefined;
  byUid(uid: string): Pod | undefined;
  /** Whether a uid is the pod's own, or that of the object that stands for it in the API server. */
  isUidOf(pod: Pod, uid: string): boolean;
  /** The newest sandbox that runs; undefined when there is none. */
  sandboxId(uid: string): string | undefined;
  /** The pod's containers, the newest of each name first. */
  containers(uid: string): readonly ContainerHandle[];
  /** Pods that the runtime knows, with the little that it can tell of them. */
  runningPods(): Promise<readonly Pod[]>;
  /** When pods were last compared with the runtime, in milliseconds; for the health check. */
  lastRelistAt(): number;
}

export type ContainerType = "container" | "init_container" | "ephemeral_container";

/** Keeps count of the work on pods, for the figures. */
export interface PodMetrics {
  /** A pod that is new here. */
  added(pod: Pod): void;
  /** A worker begins something; what is given is called when it is over. */
  acting(podUid: string, at: "syncing" | "terminating" | "terminated"): () => void;
  /** The image of one of its containers was seen to. */
  pulled(podUid: string, milliseconds: number): void;
  /** A container was started, or was not, for this reason. */
  started(type: ContainerType, failure?: string): void;
  /** The pod is seen running; only the first time counts. */
  running(pod: Pod): void;
  /** The runtime had a pod that nobody asked for. */
  orphan(): void;
  /** A pod begins anew under a uid whose last life here is over. */
  restarted(pod: Pod): void;
  /** A pod was ended to make room for one of the system. */
  preempted(lacking: string): void;
  forgotten(podUid: string): void;
}

/** What becomes of volumes, for those who count. */
export interface VolumeMetrics {
  tried(operation: VolumeOperation, plugin: string, milliseconds: number, isGood: boolean): void;
  /** From the first attempt until it was there. */
  inPlace(operation: VolumeOperation, plugin: string, milliseconds: number): void;
  /** A volume of an earlier agent was found, and is known by what lies there, or is not. */
  reconstructed(isGood: boolean): void;
  /** A volume that was not known, and that no pod has any more, was taken away, or was not. */
  forceCleaned(isGood: boolean): void;
}

export type VolumeOperation = "volume_mount" | "map_volume" | "volume_unmount" | "unmap_volume";

/** A pod as its worker has it. */
export interface WorkingPod {
  readonly lifecycle: "sync" | "terminating" | "terminated";
  readonly config: "desired" | "orphan" | "runtime_only";
  readonly static: "true" | "false" | "unknown";
}

/** Ends pods for the node's sake. */
export interface PodEvictor {
  /**
   * The pod ends as Failed with this reason; resolves once its containers have ended, or the signal is
   * aborted.
   */
  evict(
    uid: string,
    why: {
      readonly reason: string;
      readonly message: string;
      /** Without them, or with 0 of them, the pod has the time that it asks for. */
      readonly graceSeconds?: number;
      /** Told in the condition DisruptionTarget. */
      readonly disruption?: { readonly reason: string; readonly message: string };
    },
    signal?: AbortSignal,
  ): Promise<void>;
}
