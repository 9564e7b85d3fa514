// The API types of the timeline group, and the few fields of other kinds that the page reads.
export type {
  BucketList,
  FieldChange,
  LaneList,
  Missing,
  OwnerInfo,
  Timeline,
  TimelineEntry,
  TimelineFrame,
  TimelineLane,
  TimelineObject,
} from "#timeline";

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  }[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode?: number;
    readonly finishedAt?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface Pod {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly { readonly name: string }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface Node {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: {
    readonly conditions?: readonly Condition[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly nodeInfo?: { readonly osImage?: string; readonly architecture?: string };
  };
}

export interface Namespace {
  readonly metadata: ObjectMeta;
  readonly status: { readonly phase?: string };
}

export interface NodeUse {
  readonly metadata: ObjectMeta;
  readonly usage: Readonly<Record<string, string>>;
}

export interface List<T> {
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly items: readonly T[];
}
