export { type ContainerRuntime, ExecTimeout, type SandboxReport, isNotFound } from "./runtime.ts";
export { type GrpcRuntimeOptions, grpcRuntime } from "./grpc/grpc-runtime.ts";
export {
  type FakeRuntime,
  type FakeRuntimeOptions,
  type RecordedCall,
  fakeRuntime,
} from "./fake/fake-runtime.ts";
export { type FakeImage } from "./fake/images.ts";
export type { Program, World } from "./fake/program.ts";
export { type MessageOf, millisecondsOf } from "./messages/declarations.ts";
export {
  type ImageSpec,
  type LinuxContainerResources,
  type Mount,
  type NamespaceOption,
  type PortMapping,
  type SecurityProfile,
  type UserNamespace,
  mountPropagation,
  namespaceMode,
  profileType,
  protocol,
} from "./messages/common.ts";
export {
  type AttachRequest,
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerMetadata,
  type ContainerStatus,
  type Device,
  type ExecRequest,
  type ExecSyncResponse,
  type LinuxContainerSecurityContext,
  containerState,
} from "./messages/container.ts";
export type { AuthConfig, FilesystemUsage, Image } from "./messages/image.ts";
export {
  type ContainerEventResponse,
  type RuntimeCondition,
  type RuntimeConfig,
  type VersionResponse,
} from "./messages/runtime.ts";
export {
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxMetadata,
  type PodSandboxStatus,
  sandboxState,
} from "./messages/sandbox.ts";
export type {
  ContainerStats,
  ContainerStatsFilter,
  MetricDescriptor,
  PodSandboxMetrics,
  PodSandboxStats,
  PodSandboxStatsFilter,
} from "./messages/stats.ts";
