// The dependencies of syncing a pod.
import type { PodStatus, Service } from "#api";
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import type { DeadLimits } from "../containers/dead-containers.ts";
import type { PodCache } from "../containers/pod-cache.ts";
import type { Images } from "../images/images.ts";
import type { Hooks } from "../lifecycle/hooks.ts";
import type { CpuSettings } from "../plan/amounts.ts";
import type { BackOff } from "../plan/backoff.ts";
import type { DnsConfig, DnsLimits } from "../plan/dns.ts";
import type { SecuritySettings } from "../plan/security.ts";
import type { Probes } from "../probes/probes.ts";
import type {
  ContainerContributor,
  EventRecorder,
  NodeFacts,
  PodCgroups,
  PodMetrics,
  PodVolumes,
  ReferencedObjects,
} from "../interfaces.ts";
import type { PodResize } from "../resize/pod-resize.ts";
import type { StartError } from "../status/container-statuses.ts";
import type { UserNamespaces } from "../users/user-namespaces.ts";
import type { Limiter } from "./limiter.ts";
import type { PodFiles } from "./pod-files.ts";

export interface SyncSettings {
  readonly clusterServers: readonly string[];
  readonly clusterDomain: string;
  /** Reads the node's resolver configuration; called on each use, since the file may change. */
  readonly hostDns: () => DnsConfig;
  /** See DnsSettings. */
  readonly localServers?: readonly string[] | undefined;
  readonly limits?: DnsLimits | undefined;
  readonly logFolder: string;
  /** The agent's owner label; undefined for the machine's standard agent. */
  readonly owner?: string | undefined;
  readonly cpu: CpuSettings;
  readonly memoryCapacityBytes: number;
  readonly hugePageSizes: readonly string[];
  /** Whether SELinux is enabled on the node. */
  readonly selinux: boolean;
  /** Limits on retained dead containers. */
  readonly dead: DeadLimits;
  readonly security: SecuritySettings;
  /** Whether the PodHasNetwork condition is reported. */
  readonly reportsNetwork?: boolean | undefined;
  /** Whether the status lists all addresses of the node. */
  readonly reportsHostIps?: boolean | undefined;
}

export interface SyncContext {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly cache: PodCache;
  readonly events: EventRecorder;
  readonly podMetrics?: PodMetrics;
  readonly images: Images;
  /** Resource managers that contribute to container configs, in order. */
  readonly contributors?: readonly ContainerContributor[];
  /** Absent if in-place resize is disabled. */
  readonly resize?: PodResize | undefined;
  /** Absent if user namespaces are disabled. */
  readonly users?: UserNamespaces | undefined;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  readonly objects: ReferencedObjects;
  readonly node: NodeFacts;
  readonly probes: Probes;
  readonly hooks: Hooks;
  readonly restarts: BackOff;
  readonly files: PodFiles;
  /** Limit concurrent creation and teardown of sandboxes, the most expensive operations on the machine. */
  readonly createLimit: Limiter;
  readonly teardownLimit: Limiter;
  readonly settings: SyncSettings;
  /** Returns all known services of the cluster. */
  readonly services: () => Iterable<Service>;
  /** Returns the runtime handler of a runtime class; rejects for an unknown class. */
  readonly runtimeHandler: (className: string) => Promise<string>;
  /** Returns why the network is not ready; undefined when it is. */
  readonly networkError: () => string | undefined;
}

/** Per-pod state kept between actions. */
export interface PodMemory {
  /** Start errors by container name. */
  readonly startErrors: Map<string, StartError>;
  /** IDs of containers whose preStop hook was run. */
  readonly preStopDone: Set<string>;
  /**
   * IDs of sandboxes whose stop completed. A sandbox that the runtime merely reports as not ready may still
   * hold its address, because its stop was interrupted, perhaps by the exit of the previous agent.
   */
  readonly stopped: Set<string>;
  /** The pod's status as last computed. */
  status?: PodStatus;
}

export const newPodMemory = (): PodMemory => ({
  startErrors: new Map(),
  preStopDone: new Set(),
  stopped: new Set(),
});
