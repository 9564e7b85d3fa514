// What the parts of the agent ask of each other. agent.ts puts the parts together; nothing else knows all of
// them.
import type { ConfigMap, ObjectReference, Pod, Secret } from "#api";

/** A volume as containers can mount it. */
export interface MountedVolume {
  readonly hostPath: string;
  /** Whether it must be mounted read-only whatever the container asks for. */
  readonly readOnly?: boolean;
  readonly selinuxRelabel?: boolean;
  /** A device that is given to containers, not mounted; the path is a link to it. */
  readonly isDevice?: boolean;
}

/** One entry of a container's volumeMounts that names a path inside the volume. */
export interface SubPath {
  readonly container: string;
  /** The place of the entry in the container's list. */
  readonly index: number;
  readonly volumeName: string;
  readonly path: string;
  readonly readOnly: boolean;
}

/** A volume that cannot be had, now. The event FailedMount was made by whoever throws this. */
export class VolumeTrouble extends Error {
  override readonly name = "VolumeTrouble";
}

/**
 * Nothing of the pod is mounted any more, but something lies in its folder that the agent did not put there,
 * and stays.
 */
export class LeftBehind extends Error {
  override readonly name = "LeftBehind";
}

/** The volumes of pods. */
export interface PodVolumes {
  /**
   * Sets up what the pod's containers mount; safe to call again. Rejects with VolumeTrouble while something
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
   * Rejects with LeftBehind when all is unmounted and what others put there is left. */
  release(podUid: string): Promise<void>;
}

/** The control groups of pods. Names come from the pure functions in plan/. */
export interface PodCgroups {
  /**
   * Makes the pod's group with its limits; gives the name that the sandbox gets as its parent. Safe to call
   * again.
   */
  ensure(pod: Pod): Promise<string>;
  /** Ends what still runs in the pod's group and removes it. Safe to call again. */
  release(podUid: string): Promise<void>;
  /** Uids of pods that have a group. */
  podUids(): Promise<ReadonlySet<string>>;
}

export interface EventRecorder {
  event(
    regarding: ObjectReference,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
    action?: string,
    annotations?: Readonly<Record<string, string>>,
  ): void;
}

/** `preempts` are pods that must end first, for want of what `lacking` names. */
export type Admitted =
  | { readonly ok: true; readonly preempts?: readonly Pod[]; readonly lacking?: string }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** Whether a pod may run on this node, beside these others. */
export interface PodAdmission {
  admit(pod: Pod, others: readonly Pod[]): Admitted;
  /** Whether a pod that already runs may stay while the node is under pressure. */
  stays?(pod: Pod): Admitted;
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
  /** The newest sandbox; undefined when there is none. */
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
export interface PodTally {
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
  /** A pod was ended to make room for one of the system. */
  preempted(lacking: string): void;
  forgotten(podUid: string): void;
}

/** What becomes of volumes, for those who count. */
export interface VolumeTally {
  tried(operation: VolumeOperation, plugin: string, milliseconds: number, isGood: boolean): void;
  /** From the first attempt until it was there. */
  inPlace(operation: VolumeOperation, plugin: string, milliseconds: number): void;
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
      readonly graceSeconds?: number;
      /** Told in the condition DisruptionTarget. */
      readonly disruption?: { readonly reason: string; readonly message: string };
    },
    signal?: AbortSignal,
  ): Promise<void>;
}
