// CRI messages for the runtime itself: version, status, configuration and events.
import { bool, list, map, optional, required, string } from "#schema";
import { ContainerStatus } from "./container.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";
import { PodSandboxStatus } from "./sandbox.ts";

export const containerEventType = { created: 0, started: 1, stopped: 2, deleted: 3 } as const;

export const VersionRequest = message("VersionRequest", "Requests the version of the runtime.", {
  version: optional(1, string, "CRI version of the client."),
});
export const VersionResponse = message("VersionResponse", "Version of the runtime.", {
  version: required(1, string, "CRI version of the response."),
  runtimeName: required(2, string, "Name of the runtime."),
  runtimeVersion: required(3, string, "Version of the runtime."),
  runtimeApiVersion: required(4, string, "CRI API version."),
});
export type VersionResponse = MessageOf<typeof VersionResponse>;

const RuntimeCondition = message("RuntimeCondition", "A condition of the runtime.", {
  type: required(1, string, "Condition type."),
  status: required(2, bool, "Whether the condition holds."),
  reason: required(3, string, "Brief CamelCase reason."),
  message: required(4, string, "Human-readable message."),
});
export type RuntimeCondition = MessageOf<typeof RuntimeCondition>;
const RuntimeStatus = message("RuntimeStatus", "Status of the runtime.", {
  conditions: required(1, list(RuntimeCondition), "Conditions."),
});
export const StatusRequest = message("StatusRequest", "Requests the status of the runtime.", {
  verbose: optional(1, bool, "Whether to return runtime-specific information."),
});
export const StatusResponse = message("StatusResponse", "Response of Status.", {
  status: optional(1, RuntimeStatus, "Runtime status."),
  info: required(2, map(string), "Runtime-specific information."),
});

const NetworkConfig = message("NetworkConfig", "Network configuration of pods.", {
  podCidr: optional(1, string, "CIDR of the pods on this node."),
});
export const RuntimeConfig = message("RuntimeConfig", "Configuration of the runtime.", {
  networkConfig: optional(1, NetworkConfig, "Network configuration."),
});
export type RuntimeConfig = MessageOf<typeof RuntimeConfig>;
export const UpdateRuntimeConfigRequest = message(
  "UpdateRuntimeConfigRequest",
  "Updates the configuration of the runtime.",
  { runtimeConfig: optional(1, RuntimeConfig, "Configuration.") },
);
export const UpdateRuntimeConfigResponse = message(
  "UpdateRuntimeConfigResponse",
  "Response of UpdateRuntimeConfig.",
  {},
);

export const GetEventsRequest = message("GetEventsRequest", "Requests the stream of container events.", {});
export const ContainerEventResponse = message("ContainerEventResponse", "A container event.", {
  containerId: required(1, string, "Container or sandbox ID."),
  containerEventType: requiredEnum(
    2,
    [
      "CONTAINER_CREATED_EVENT",
      "CONTAINER_STARTED_EVENT",
      "CONTAINER_STOPPED_EVENT",
      "CONTAINER_DELETED_EVENT",
    ],
    "Event type.",
  ),
  createdAt: required(3, nanoseconds, "Time of the event."),
  podSandboxStatus: optional(4, PodSandboxStatus, "Current status of the sandbox."),
  containersStatuses: required(5, list(ContainerStatus), "Current statuses of its containers."),
});
export type ContainerEventResponse = MessageOf<typeof ContainerEventResponse>;
