// The container runtime interface: every CRI call as a promise. It is implemented over a socket, and in
// memory for tests.
//
// Errors are GrpcErrors with the code of the call (NOT_FOUND, UNAVAILABLE while the runtime is down, …).
// Stopping and removing are idempotent.
import { GrpcError } from "#http";
import type { ImageSpec, LinuxContainerResources } from "./messages/common.ts";
import type {
  AttachRequest,
  Container,
  ContainerConfig,
  ContainerFilter,
  ContainerStatus,
  ExecRequest,
  ExecSyncResponse,
} from "./messages/container.ts";
import type { AuthConfig, FilesystemUsage, Image } from "./messages/image.ts";
import type {
  ContainerEventResponse,
  RuntimeCondition,
  RuntimeConfig,
  VersionResponse,
} from "./messages/runtime.ts";
import type { PodSandbox, PodSandboxConfig, PodSandboxFilter, PodSandboxStatus } from "./messages/sandbox.ts";
import type {
  ContainerStats,
  ContainerStatsFilter,
  MetricDescriptor,
  PodSandboxMetrics,
  PodSandboxStats,
  PodSandboxStatsFilter,
} from "./messages/stats.ts";

export interface SandboxReport {
  readonly status: PodSandboxStatus;
  /** The sandbox's containers; only from runtimes that support events. */
  readonly containers: readonly ContainerStatus[];
  /** Nanoseconds since the epoch; 0 from runtimes that do not support events. */
  readonly timestamp: number | bigint;
}

export interface ContainerRuntime {
  version(signal?: AbortSignal): Promise<VersionResponse>;
  status(signal?: AbortSignal): Promise<{ readonly conditions: readonly RuntimeCondition[] }>;
  updateRuntimeConfig(config: RuntimeConfig, signal?: AbortSignal): Promise<void>;

  /** Creates and starts a sandbox; resolves with its ID. */
  runPodSandbox(config: PodSandboxConfig, runtimeHandler?: string, signal?: AbortSignal): Promise<string>;
  stopPodSandbox(sandboxId: string, signal?: AbortSignal): Promise<void>;
  removePodSandbox(sandboxId: string, signal?: AbortSignal): Promise<void>;
  podSandboxStatus(sandboxId: string, signal?: AbortSignal): Promise<SandboxReport>;
  listPodSandboxes(filter?: PodSandboxFilter, signal?: AbortSignal): Promise<PodSandbox[]>;

  /** Creates a container; resolves with its ID. */
  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandboxConfig: PodSandboxConfig,
    signal?: AbortSignal,
  ): Promise<string>;
  startContainer(containerId: string, signal?: AbortSignal): Promise<void>;
  /** Sends SIGTERM to the container, and kills it after the grace period. */
  stopContainer(containerId: string, graceSeconds: number, signal?: AbortSignal): Promise<void>;
  removeContainer(containerId: string, signal?: AbortSignal): Promise<void>;
  containerStatus(containerId: string, signal?: AbortSignal): Promise<{ readonly status: ContainerStatus }>;
  listContainers(filter?: ContainerFilter, signal?: AbortSignal): Promise<Container[]>;
  updateContainerResources(
    containerId: string,
    resources: LinuxContainerResources,
    signal?: AbortSignal,
  ): Promise<void>;
  reopenContainerLog(containerId: string, signal?: AbortSignal): Promise<void>;
  checkpointContainer(
    containerId: string,
    location: string,
    timeoutSeconds: number,
    signal?: AbortSignal,
  ): Promise<void>;

  /** Runs a program to completion. Throws ExecTimeout if it takes too long; 0 seconds means unlimited. */
  execSync(
    containerId: string,
    command: readonly string[],
    timeoutSeconds: number,
    signal?: AbortSignal,
  ): Promise<ExecSyncResponse>;
  /** The following three resolve with the URL of a stream. */
  exec(request: ExecRequest, signal?: AbortSignal): Promise<string>;
  attach(request: AttachRequest, signal?: AbortSignal): Promise<string>;
  portForward(sandboxId: string, ports: readonly number[], signal?: AbortSignal): Promise<string>;

  containerStats(containerId: string, signal?: AbortSignal): Promise<ContainerStats>;
  listContainerStats(filter?: ContainerStatsFilter, signal?: AbortSignal): Promise<ContainerStats[]>;
  podSandboxStats(sandboxId: string, signal?: AbortSignal): Promise<PodSandboxStats>;
  listPodSandboxStats(filter?: PodSandboxStatsFilter, signal?: AbortSignal): Promise<PodSandboxStats[]>;
  listMetricDescriptors(signal?: AbortSignal): Promise<MetricDescriptor[]>;
  listPodSandboxMetrics(signal?: AbortSignal): Promise<PodSandboxMetrics[]>;
  /**
   * Streams events until aborted or the connection is lost. Fails with UNIMPLEMENTED if the runtime does not
   * support events.
   */
  containerEvents(signal: AbortSignal): AsyncIterable<ContainerEventResponse>;

  listImages(image?: ImageSpec, signal?: AbortSignal): Promise<Image[]>;
  /** Resolves with undefined if the image is not on the node. */
  imageStatus(image: ImageSpec, signal?: AbortSignal): Promise<{ readonly image: Image | undefined }>;
  /** Pulls an image; resolves with its ID or digest. */
  pullImage(
    image: ImageSpec,
    auth?: AuthConfig,
    sandboxConfig?: PodSandboxConfig,
    signal?: AbortSignal,
  ): Promise<string>;
  removeImage(image: ImageSpec, signal?: AbortSignal): Promise<void>;
  imageFsInfo(signal?: AbortSignal): Promise<FilesystemUsage[]>;

  /** Closes the connections to the runtime; containers are unaffected. */
  close(): void;
}

/** A program in a container did not end within its timeout. */
export class ExecTimeout extends Error {
  override readonly name = "ExecTimeout";
  readonly timeoutSeconds: number;
  constructor(command: readonly string[], timeoutSeconds: number, cause?: unknown) {
    super(
      `command ${JSON.stringify(command.join(" "))} timed out`,
      cause === undefined ? undefined : { cause },
    );
    this.timeoutSeconds = timeoutSeconds;
  }
}

/** Reports whether an error means that the object does not exist. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof GrpcError && error.code === "NOT_FOUND";
