// Interfaces between the parts of the agent. Only agent.ts knows and assembles all parts.
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

/** A volume that is ready to be mounted into containers. */
export interface MountedVolume {
  readonly hostPath: string;
  /** Whether it must be mounted read-only regardless of the container's volume mount. */
  readonly readOnly?: boolean;
  readonly selinuxRelabel?: boolean;
  /** Whether this is a block device, passed to containers instead of mounted; the path is a link to it. */
  readonly isDevice?: boolean;
  /** Whether the path is one of the node, whose usage is not the volume's. */
  readonly isForeign?: boolean;
  /** A supplemental group of all containers that the volume asks for, as text of unknown form. */
  readonly group?: string;
  /** Returns the usage, if it cannot be read from the file system of the path. */
  readonly stats?: () => Promise<VolumeStats>;
}

/** An entry of a container's volumeMounts with a sub path of the volume. */
export interface SubPath {
  readonly container: string;
  /** Index of the entry in the container's list. */
  readonly index: number;
  readonly volumeName: string;
  readonly path: string;
}

/** A volume cannot be mounted for now. The thrower has recorded the event FailedMount. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
}

/** All volumes of the pod are unmounted, but its directory contains files that the agent did not create. */
export class LeftoverError extends Error {
  override readonly name = "LeftoverError";
}

/** A volume as passed to plug-ins: the pod's volume entry, its claim, and the bound persistent volume. */
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
  /** Updates the contents of a mounted volume; absent if they never change. */
  refresh?(pod: Pod, spec: VolumeSpec, directory: string): Promise<void>;
  /**
   * Undoes `mount`, also for a volume that an earlier agent process mounted: only the directory is known.
   * Absent if the generic teardown (unmount everything below, remove the directory) suffices.
   */
  unmount?(podUid: string, name: string, directory: string): Promise<void>;
  /** Makes the volume available as a block device; absent if the plug-in does not support block volumes. */
  map?(pod: Pod, spec: VolumeSpec, link: string, signal: AbortSignal): Promise<MountedVolume>;
  unmap?(podUid: string, name: string, link: string): Promise<void>;
  /** As `refresh`, for a block device. */
  refreshDevice?(pod: Pod, spec: VolumeSpec, link: string): Promise<void>;
  /**
   * Reports whether a volume of an earlier agent process can be torn down from the contents of its directory;
   * absent if every volume can.
   */
  isRecorded?(directory: string): Promise<boolean>;
  /** Called for each volume of an earlier agent process, which is in use until it is torn down. */
  adopt?(found: {
    readonly name: string;
    readonly directory: string;
    readonly isDevice: boolean;
  }): Promise<void>;
  /** Returns the usage; absent if it can be read from the file system of the directory. */
  stats?(directory: string): Promise<VolumeStats>;
}

/** Additions of a part of the agent to the configuration of a container that is about to be created. */
export interface ContainerContribution {
  /** Override the values from requests and limits: cpuset, mems, unified and the like. */
  readonly resources?: Partial<LinuxContainerResources>;
  readonly devices?: readonly Device[];
  readonly cdiDevices?: readonly string[];
  /** Variables of the container spec take precedence. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A part that allocates node resources to containers: CPUs, memory, devices. */
export interface ContainerContributor {
  /** Called for each container right before its creation; rejects if the container cannot be created. */
  contribute(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerContribution>;
  /** Called when the container has been created with this ID and is about to start. */
  created?(pod: Pod, container: Container, containerId: string): void;
  /** Releases the allocations of a pod that has been removed from this node. */
  release?(podUid: string): void;
}

/** Small named documents that persist across agent restarts, such as the state of the resource managers. */
export interface CheckpointStore {
  /** Returns undefined if there is no such document. */
  read(name: string): Promise<string | undefined>;
  /** Durable when it resolves; atomic: readers see the old text or the new one. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  names(): Promise<readonly string[]>;
}

/** Manages the volumes of pods. */
export interface PodVolumes {
  /**
   * Sets up the volumes that the pod's containers mount. Idempotent. Rejects with VolumeError while a volume
   * is not available.
   */
  mount(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>>;
  /**
   * Returns the host path of a sub path of a mounted volume. Creates it if absent, and bind-mounts it so that
   * it cannot be moved away.
   */
  subPath(pod: Pod, volume: MountedVolume, at: SubPath, signal: AbortSignal): Promise<string>;
  /** Updates config maps, secrets, downward API values and tokens of a running pod. */
  refresh(pod: Pod): Promise<void>;
  /**
   * Unmounts and removes the pod's volumes and sub paths. Idempotent; the caller removes the rest of the
   * pod's directory. Rejects with LeftoverError if everything is unmounted but foreign files remain.
   */
  release(podUid: string): Promise<void>;
}

/** Manages the cgroups of pods. Their names are computed by the pure functions in plan/. */
export interface PodCgroups {
  /**
   * Creates the pod's cgroup with its limits and returns the name to use as the sandbox's cgroup parent.
   * Idempotent.
   */
  ensure(pod: Pod): Promise<string>;
  /**
   * Applies the pod's new limit of one resource: an increase before its containers are resized, a decrease
   * afterwards.
   */
  resize?(pod: Pod, resource: "cpu" | "memory", when: "before" | "after"): Promise<void>;
  /** Kills all processes in the pod's cgroup and removes it. Idempotent. */
  release(podUid: string): Promise<void>;
  /** Returns the UIDs of pods that have a cgroup. */
  podUids(): Promise<ReadonlySet<string>>;
}

export type { EventRecorder } from "#client";

/** `preempts` are pods that must be evicted first; `lacking` names the insufficient resource. */
export type Admitted =
  | { readonly ok: true; readonly preempts?: readonly Pod[]; readonly lacking?: string }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/**
 * An admission handler. Handlers are called in order after the general checks; the first rejection is final.
 * Resource managers allocate here.
 */
export interface PodAdmitHandler {
  admit(pod: Pod, others: readonly Pod[]): Admitted;
}

/** Decides whether a pod may run on this node together with the other pods. */
export interface PodAdmission {
  /**
   * `ran`: the pod ran before this agent started, and is checked against the pods that were admitted before
   * it.
   */
  admit(pod: Pod, others: readonly Pod[], ran?: boolean): Admitted;
  /**
   * Allocates what an admitted pod was promised, such as devices from their plug-ins, before anything of the
   * pod is created. Idempotent.
   */
  confirm?(pod: Pod, signal: AbortSignal): Promise<Admitted>;
  /** Returns why an admitted pod cannot be started yet; the pod waits. */
  blocks?(pod: Pod): { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Config maps and secrets that pods of this node refer to. Resolves with undefined if the object does not
 * exist; rejects if that cannot be determined.
 */
export interface ReferencedObjects {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  /** Keeps the objects that the pod refers to cached. */
  watch(pod: Pod): void;
  forget(podUid: string): void;
}

/** Facts about the node that pods depend on. */
export interface NodeFacts {
  readonly name: string;
  /** Returns at most one address of each IP family, the preferred one first. */
  hostIps(): readonly string[];
  /** Returns the resources that pods may use in total, as quantities. */
  allocatable(): Readonly<Record<string, string>>;
  labels(): Readonly<Record<string, string>>;
}

/** A container of a pod as reported by the runtime. */
export interface ContainerHandle {
  readonly name: string;
  readonly id: string;
  readonly state: "created" | "running" | "exited" | "unknown";
  /** The number of earlier containers with that name. */
  readonly attempt: number;
  readonly logPath: string;
}

/** The pods of this node, for the agent's servers, metrics and eviction. */
export interface PodRegistry {
  /** Returns all pods with their latest status. */
  pods(): readonly Pod[];
  byName(namespace: string, name: string): Pod | undefined;
  byUid(uid: string): Pod | undefined;
  /** Reports whether a UID is that of the pod or of its mirror pod. */
  isUidOf(pod: Pod, uid: string): boolean;
  /** Returns the newest ready sandbox, or undefined. */
  sandboxId(uid: string): string | undefined;
  /** Returns the pod's containers, the newest of each name first. */
  containers(uid: string): readonly ContainerHandle[];
  /** Returns the pods known to the runtime, as far as the runtime describes them. */
  runningPods(): Promise<readonly Pod[]>;
  /**
   * Returns the milliseconds since the last relist, or since it was due if it is made rarely because of runtime
   * events; for the health check.
   */
  sinceRelist(): number;
}

export type ContainerType = "container" | "init_container" | "ephemeral_container";

/** Records the metrics of pod workers. */
export interface PodMetrics {
  /** A pod was added to this node. */
  added(pod: Pod): void;
  /** A worker starts an action; the returned function is called when it ends. */
  acting(podUid: string, at: "syncing" | "terminating" | "terminated"): () => void;
  /** The image of one of the pod's containers was pulled or found present. */
  pulled(podUid: string, milliseconds: number): void;
  /** A container was started, or failed to start for this reason. */
  started(type: ContainerType, failure?: string): void;
  /** The pod was observed running; only the first call counts. */
  running(pod: Pod): void;
  /** The runtime had a pod that no source wants. */
  orphan(): void;
  /** A pod was added again with a UID whose earlier pod has terminated on this node. */
  restarted(pod: Pod): void;
  /** A pod was preempted for a critical pod. */
  preempted(lacking: string): void;
  forgotten(podUid: string): void;
}

/** Records the metrics of volume operations. */
export interface VolumeMetrics {
  tried(operation: VolumeOperation, plugin: string, milliseconds: number, isGood: boolean): void;
  /** An operation succeeded; the duration includes all failed attempts. */
  inPlace(operation: VolumeOperation, plugin: string, milliseconds: number): void;
  /** A volume of an earlier agent process was found and reconstructed, or could not be. */
  reconstructed(isGood: boolean): void;
  /** A volume that could not be reconstructed and that no pod uses was cleaned up, or could not be. */
  forceCleaned(isGood: boolean): void;
}

export type VolumeOperation = "volume_mount" | "map_volume" | "volume_unmount" | "unmap_volume";

/** The state of a pod worker, for metrics. */
export interface WorkingPod {
  readonly lifecycle: "sync" | "terminating" | "terminated";
  readonly config: "desired" | "orphan" | "runtime_only";
  readonly static: "true" | "false" | "unknown";
}

/** Evicts pods. */
export interface PodEvictor {
  /**
   * Terminates the pod as Failed with this reason; resolves once its containers have exited or the signal is
   * aborted.
   */
  evict(
    uid: string,
    why: {
      readonly reason: string;
      readonly message: string;
      /** If absent or 0, the pod's own termination grace period applies. */
      readonly graceSeconds?: number;
      /** Reported in the condition DisruptionTarget. */
      readonly disruption?: { readonly reason: string; readonly message: string };
    },
    signal?: AbortSignal,
  ): Promise<void>;
}
