// What bringing a pod nearer to its definition needs.
import type { PodStatus, Service } from "#api";
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import type { DeadLimits } from "../containers/dead-containers.ts";
import type { PodCache } from "../containers/pod-cache.ts";
import type { Images } from "../images/images.ts";
import type { Hooks } from "../lifecycle/hooks.ts";
import type { CpuSettings } from "../plan/amounts.ts";
import type { BackOff } from "../plan/back-off.ts";
import type { DnsConfig } from "../plan/dns.ts";
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
  /** What the node's resolver uses; asked each time, for it may change. */
  readonly hostDns: () => DnsConfig;
  readonly logFolder: string;
  /** The agent's owner label; undefined for the machine's standard agent. */
  readonly owner?: string | undefined;
  readonly cpu: CpuSettings;
  readonly memoryCapacityBytes: number;
  readonly hugePageSizes: readonly string[];
  /** Whether files carry labels that decide who may use them. */
  readonly selinux: boolean;
  /** Ended containers that are kept. */
  readonly dead: DeadLimits;
  readonly security: SecuritySettings;
  /** Whether pods have a condition for their network. */
  readonly tellsNetwork?: boolean | undefined;
}

export interface SyncContext {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly cache: PodCache;
  readonly events: EventRecorder;
  readonly tally?: PodMetrics;
  readonly images: Images;
  /** Resource managers that add to containers, in order. */
  readonly contributors?: readonly ContainerContributor[];
  /** Absent where containers keep their resources for life. */
  readonly resize?: PodResize | undefined;
  /** Absent where every pod shares the node's users. */
  readonly users?: UserNamespaces | undefined;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  readonly objects: ReferencedObjects;
  readonly node: NodeFacts;
  readonly probes: Probes;
  readonly hooks: Hooks;
  readonly restarts: BackOff;
  readonly files: PodFiles;
  /**
   * What costs the machine most goes through these: sandboxes that are made, and sandboxes that are taken
   * down.
   */
  readonly createLimit: Limiter;
  readonly teardownLimit: Limiter;
  readonly settings: SyncSettings;
  /** All services of the cluster that are known. */
  readonly services: () => Iterable<Service>;
  /** The runtime's name for a runtime class; throws when there is no such class. */
  readonly runtimeHandler: (className: string) => Promise<string>;
  /** Why pods cannot have a network now; undefined when they can. */
  readonly networkTrouble: () => string | undefined;
}

/** What is remembered of a pod between two looks. */
export interface PodMemory {
  /** Why containers could not be started, by name. */
  readonly trouble: Map<string, StartError>;
  /** Containers whose preStop hook was run. */
  readonly preStopDone: Set<string>;
  /**
   * Sandboxes that were stopped with all that is theirs. One that the runtime calls down may still have its
   * address: its stop was cut off, perhaps by the end of the agent before this one.
   */
  readonly stopped: Set<string>;
  /** The pod's status as it was last computed. */
  status?: PodStatus;
}

export const freshMemory = (): PodMemory => ({
  trouble: new Map(),
  preStopDone: new Set(),
  stopped: new Set(),
});
