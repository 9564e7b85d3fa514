// The pod resources API on its local socket. Monitoring agents request from it which CPUs, memory and devices
// are assigned exclusively to containers.
import { type Pod, runningContainers } from "#api";
import type { Clock } from "#base";
import { tokenBucket } from "#client";
import { GrpcError, type GrpcProcedure, type GrpcServer, grpcServer, unaryProcedure } from "#http";
import { procedureOf } from "../grpc-procedure.ts";
import type { ContainerDevice } from "../devices/device-manager.ts";
import type { MemoryBlock } from "../managers/checkpoints.ts";
import { type CpuSet, sortedCpus } from "../managers/cpu-set.ts";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import {
  AllocatableResponse,
  Empty,
  GetRequest,
  GetResponse,
  ListResponse,
  type PodResources,
} from "./messages.ts";

export interface PodResourcesOptions {
  readonly socketPath: string;
  /** Returns the pods on the node. */
  readonly pods: () => readonly Pod[];
  readonly exclusive: (podUid: string, container: string) => CpuSet;
  readonly memoryBlocks: (podUid: string, container: string) => readonly MemoryBlock[];
  readonly devices: (podUid: string, container: string) => readonly ContainerDevice[];
  readonly allocatable: () => {
    readonly cpus: CpuSet;
    readonly memory: readonly MemoryBlock[];
    readonly devices: readonly ContainerDevice[];
  };
  /** Which methods are enabled in addition to List. */
  readonly allows: AllowedMethods;
  readonly clock: Pick<Clock, "monotonic">;
  readonly onRequest?: OnRequest;
}

export interface AllowedMethods {
  /** The Get method. */
  readonly get: boolean;
  /** The GetAllocatableResources method. */
  readonly get_allocatable: boolean;
}

/** Called for every request; v1alpha1 has no per-method metrics. */
export type OnRequest = (
  version: "v1" | "v1alpha1",
  method: "list" | "get" | "get_allocatable" | undefined,
  isGood: boolean,
) => void;

/** Serves until closed. */
export const podResourcesServer = (options: PodResourcesOptions): Promise<GrpcServer> =>
  grpcServer({ socketPath: options.socketPath, procedures: podResourcesProcedures(options) });

/** Requests per second and burst, as in the kubelet. */
const [perSecond, burst] = [100, 10];

export function podResourcesProcedures(options: PodResourcesOptions): readonly GrpcProcedure[] {
  const { pods, onRequest, allows } = options;
  const isAllowed = tokenBucket(options.clock, perSecond, burst);
  const all = (withManagers: boolean) => {
    if (withManagers) onRequest?.("v1", "list", true);
    else onRequest?.("v1alpha1", undefined, true);
    return { podResources: pods().map((pod) => resourcesOf(pod, withManagers)) };
  };
  const procedures: readonly GrpcProcedure[] = [
    unaryProcedure(procedureOf("/v1.PodResourcesLister/List", Empty, ListResponse).serve, () => all(true)),
    unaryProcedure(procedureOf("/v1alpha1.PodResourcesLister/List", Empty, ListResponse).serve, () =>
      all(false),
    ),
    unaryProcedure(
      procedureOf("/v1.PodResourcesLister/GetAllocatableResources", Empty, AllocatableResponse).serve,
      () => {
        onRequest?.("v1", "get_allocatable", allows.get_allocatable);
        if (!allows.get_allocatable)
          throw new GrpcError("UNKNOWN", "PodResources API GetAllocatableResources disabled");
        const { cpus, memory, devices } = options.allocatable();
        return { devices: devices.map(deviceOf), cpuIds: sortedCpus(cpus), memory: memory.map(memoryOf) };
      },
    ),
    unaryProcedure(procedureOf("/v1.PodResourcesLister/Get", GetRequest, GetResponse).serve, (request) => {
      const { podName, podNamespace } = request;
      const found = pods().find((pod) => nameOf(pod) === podName && namespaceOf(pod) === podNamespace);
      onRequest?.("v1", "get", allows.get && found !== undefined);
      if (!allows.get) throw new GrpcError("UNKNOWN", "PodResources API Get method disabled");
      if (!found) throw new GrpcError("UNKNOWN", `pod ${podName} in namespace ${podNamespace} not found`);
      return { podResources: resourcesOf(found, true) };
    }),
  ];
  // All methods of both versions share one rate limit; rejected requests are not counted.
  return procedures.map(({ path, answer }) => ({
    path,
    answer: (request, call) => {
      if (!isAllowed()) throw new GrpcError("RESOURCE_EXHAUSTED", "rejected by rate limit");
      return answer(request, call);
    },
  }));

  /** Returns the resources of a pod; v1alpha1 reports devices only. */
  function resourcesOf(pod: Pod, withManagers: boolean): PodResources {
    return {
      name: nameOf(pod),
      namespace: namespaceOf(pod),
      containers: runningContainers(pod.spec).map(({ name }) => ({
        name,
        devices: options.devices(uidOf(pod), name).map(deviceOf),
        cpuIds: withManagers ? sortedCpus(options.exclusive(uidOf(pod), name)) : [],
        memory: withManagers ? options.memoryBlocks(uidOf(pod), name).map(memoryOf) : [],
      })),
    };
  }
}

const deviceOf = ({ resource, id, nodes }: ContainerDevice) => ({
  resourceName: resource,
  deviceIds: [id],
  ...(nodes.length > 0 && { topology: { nodes: nodes.map((ID) => ({ ID })) } }),
});

const memoryOf = ({ numaAffinity, type, size }: MemoryBlock) => ({
  memoryType: type,
  size,
  topology: { nodes: numaAffinity.map((ID) => ({ ID })) },
});
