// The messages between the agent and device plug-ins (v1beta1).
import type { MessageOf } from "#cri";
import {
  apiPackage,
  bool,
  int32,
  int64,
  list,
  map,
  optional,
  protobufCodec,
  required,
  string,
} from "#schema";
import { procedureOf } from "../grpc-procedure.ts";

const { message } = apiPackage({ package: "v1beta1" });

export const Empty = message("Empty", "An empty message.", {});
export const PluginOptions = message("DevicePluginOptions", "The options of a plug-in.", {
  preStartRequired: optional(1, bool, "PreStartContainer must be called before each container start."),
  preferredAvailable: optional(2, bool, "GetPreferredAllocation is supported."),
});
export const RegisterRequest = message("RegisterRequest", "Registers a plug-in.", {
  version: optional(1, string, "The API version of the plug-in."),
  endpoint: optional(2, string, "The plug-in's socket, in the directory of the agent's socket."),
  resourceName: optional(3, string, "The resource it provides."),
  options: optional(4, PluginOptions, "Its options."),
});
const NumaNode = message("NUMANode", "A NUMA node.", { ID: optional(1, int64, "Its number.") });
const TopologyInfo = message("TopologyInfo", "The topology of a device.", {
  nodes: required(1, list(NumaNode), "Its NUMA nodes."),
});
export const PluginDevice = message("Device", "One device.", {
  ID: required(1, string, "Its name."),
  health: optional(2, string, "Healthy, or anything else."),
  topology: optional(3, TopologyInfo, "Its topology."),
});
export const ListAndWatchResponse = message("ListAndWatchResponse", "All devices; sent at every change.", {
  devices: required(1, list(PluginDevice), "The devices."),
});
const ContainerAllocateRequest = message("ContainerAllocateRequest", "For one container.", {
  devicesIds: required(1, list(string), "The devices it gets."),
});
export const AllocateRequest = message("AllocateRequest", "Allocates devices.", {
  containerRequests: required(1, list(ContainerAllocateRequest), "By container."),
});
const PluginMount = message("Mount", "A mount.", {
  containerPath: optional(1, string, "Path in the container."),
  hostPath: optional(2, string, "Path on the host."),
  readOnly: optional(3, bool, "Whether the mount is read-only."),
});
const DeviceSpec = message("DeviceSpec", "A device file.", {
  containerPath: optional(1, string, "Path in the container."),
  hostPath: optional(2, string, "Path on the host."),
  permissions: optional(3, string, "Any of r, w and m."),
});
const CdiDevice = message("CDIDevice", "A device by its CDI name.", {
  name: optional(1, string, "The name."),
});
export const ContainerAllocateResponse = message(
  "ContainerAllocateResponse",
  "The allocation for one container.",
  {
    envs: required(1, map(string), "Variables."),
    mounts: required(2, list(PluginMount), "Mounts."),
    devices: required(3, list(DeviceSpec), "Device files."),
    annotations: required(4, map(string), "Annotations for the runtime."),
    cdiDevices: required(5, list(CdiDevice), "Devices by their CDI names."),
  },
);
export const AllocateResponse = message("AllocateResponse", "The allocations.", {
  containerResponses: required(1, list(ContainerAllocateResponse), "By container."),
});
export const PreStartRequest = message("PreStartContainerRequest", "Announces the start of a container.", {
  devicesIds: required(1, list(string), "Its devices."),
});
const ContainerPreferredRequest = message("ContainerPreferredAllocationRequest", "For one container.", {
  availableIds: required(1, list(string), "Devices to choose from."),
  mustIncludeIds: required(2, list(string), "Devices that must be included."),
  allocationSize: optional(3, int32, "Number of devices."),
});
export const PreferredRequest = message("PreferredAllocationRequest", "Requests the preferred devices.", {
  containerRequests: required(1, list(ContainerPreferredRequest), "By container."),
});
const ContainerPreferredResponse = message("ContainerPreferredAllocationResponse", "For one container.", {
  deviceIds: required(1, list(string), "The preferred devices."),
});
export const PreferredResponse = message("PreferredAllocationResponse", "The preferred devices.", {
  containerResponses: required(1, list(ContainerPreferredResponse), "By container."),
});

export type PluginOptions = MessageOf<typeof PluginOptions>;
export type PluginDevice = MessageOf<typeof PluginDevice>;
export type ContainerAllocateResponse = MessageOf<typeof ContainerAllocateResponse>;

const responseCodec = protobufCodec(ContainerAllocateResponse, { style: "proto3" });
export const allocationBytes = (response: ContainerAllocateResponse): string =>
  Buffer.from(responseCodec.encode(response)).toString("base64");
export const allocationFrom = (text: string): ContainerAllocateResponse =>
  responseCodec.decode(Buffer.from(text, "base64")) as ContainerAllocateResponse;

export const devicePlugin = {
  register: procedureOf("/v1beta1.Registration/Register", RegisterRequest, Empty),
  options: procedureOf("/v1beta1.DevicePlugin/GetDevicePluginOptions", Empty, PluginOptions),
  listAndWatch: procedureOf("/v1beta1.DevicePlugin/ListAndWatch", Empty, ListAndWatchResponse),
  allocate: procedureOf("/v1beta1.DevicePlugin/Allocate", AllocateRequest, AllocateResponse),
  preStart: procedureOf("/v1beta1.DevicePlugin/PreStartContainer", PreStartRequest, Empty),
  preferred: procedureOf("/v1beta1.DevicePlugin/GetPreferredAllocation", PreferredRequest, PreferredResponse),
};
