// CRI messages for the runtime itself: version, status, configuration and events.
import { bool, list, map, optional, required, string } from "#schema";
import { ContainerStatus } from "./container.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";
import { PodSandboxStatus } from "./sandbox.ts";

export const containerEventType = { created: 0, started: 1, stopped: 2, deleted: 3 } as const;

export const VersionRequest = message("VersionRequest", "Asks which runtime this is.", {
  version: optional(1, string, "The version we speak."),
});
export const VersionResponse = message("VersionResponse", "Which runtime this is.", {
  version: required(1, string, "The version it answers in."),
  runtimeName: required(2, string, "Its name."),
  runtimeVersion: required(3, string, "Its version."),
  runtimeApiVersion: required(4, string, "The protocol's version."),
});
export type VersionResponse = MessageOf<typeof VersionResponse>;

const RuntimeCondition = message("RuntimeCondition", "One side of the runtime's state.", {
  type: required(1, string, "Which side."),
  status: required(2, bool, "Whether it is well."),
  reason: required(3, string, "One word for why."),
  message: required(4, string, "More words."),
});
export type RuntimeCondition = MessageOf<typeof RuntimeCondition>;
const RuntimeStatus = message("RuntimeStatus", "The runtime's state.", {
  conditions: required(1, list(RuntimeCondition), "Its sides."),
});
export const StatusRequest = message("StatusRequest", "Asks for the runtime's state.", {
  verbose: optional(1, bool, "Whether to tell what is particular to it."),
});
export const StatusResponse = message("StatusResponse", "The runtime's state.", {
  status: optional(1, RuntimeStatus, "The state."),
  info: required(2, map(string), "What is particular to it."),
});

const NetworkConfig = message("NetworkConfig", "The network of pods.", {
  podCidr: optional(1, string, "The addresses of pods on this node."),
});
export const RuntimeConfig = message("RuntimeConfig", "Settings of the runtime.", {
  networkConfig: optional(1, NetworkConfig, "The network of pods."),
});
export type RuntimeConfig = MessageOf<typeof RuntimeConfig>;
export const UpdateRuntimeConfigRequest = message(
  "UpdateRuntimeConfigRequest",
  "Changes the runtime's settings.",
  { runtimeConfig: optional(1, RuntimeConfig, "The settings.") },
);
export const UpdateRuntimeConfigResponse = message("UpdateRuntimeConfigResponse", "Changed.", {});

export const GetEventsRequest = message("GetEventsRequest", "Asks to be told what happens.", {});
export const ContainerEventResponse = message("ContainerEventResponse", "Something happened.", {
  containerId: required(1, string, "To which container or sandbox."),
  containerEventType: requiredEnum(
    2,
    [
      "CONTAINER_CREATED_EVENT",
      "CONTAINER_STARTED_EVENT",
      "CONTAINER_STOPPED_EVENT",
      "CONTAINER_DELETED_EVENT",
    ],
    "What.",
  ),
  createdAt: required(3, nanoseconds, "When."),
  podSandboxStatus: optional(4, PodSandboxStatus, "How the sandbox is now."),
  containersStatuses: required(5, list(ContainerStatus), "How its containers are now."),
});
export type ContainerEventResponse = MessageOf<typeof ContainerEventResponse>;
