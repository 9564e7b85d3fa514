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

export const Empty = message("Empty", "Nothing.", {});
export const PluginOptions = message("DevicePluginOptions", "What a plug-in can and wants.", {
  preStartRequired: optional(1, bool, "It is called before each container starts."),
  preferredAvailable: optional(2, bool, "It can say which devices it would rather give."),
});
export const RegisterRequest = message("RegisterRequest", "A plug-in announces itself.", {
  version: optional(1, string, "The version of these messages that it speaks."),
  endpoint: optional(2, string, "Its socket, in the folder of the agent's own."),
  resourceName: optional(3, string, "What it gives."),
  options: optional(4, PluginOptions, "What it can and wants."),
});
const NumaNode = message("NUMANode", "A NUMA node.", { ID: optional(1, int64, "Its number.") });
const TopologyInfo = message("TopologyInfo", "Where something is.", {
  nodes: required(1, list(NumaNode), "Near these nodes."),
});
export const PluginDevice = message("Device", "One device.", {
  ID: required(1, string, "Its name."),
  health: optional(2, string, "Healthy, or anything else."),
  topology: optional(3, TopologyInfo, "Where it is."),
});
export const ListAndWatchResponse = message("ListAndWatchResponse", "All devices, at every change.", {
  devices: required(1, list(PluginDevice), "The devices."),
});
const ContainerAllocateRequest = message("ContainerAllocateRequest", "For one container.", {
  devicesIds: required(1, list(string), "The devices it gets."),
});
export const AllocateRequest = message("AllocateRequest", "Devices are about to be given.", {
  containerRequests: required(1, list(ContainerAllocateRequest), "By container."),
});
const PluginMount = message("Mount", "A mount.", {
  containerPath: optional(1, string, "Where in the container."),
  hostPath: optional(2, string, "What of the node."),
  readOnly: optional(3, bool, "Whether it can only be read."),
});
const DeviceSpec = message("DeviceSpec", "A device file.", {
  containerPath: optional(1, string, "Where in the container."),
  hostPath: optional(2, string, "Which of the node."),
  permissions: optional(3, string, "Of r, w and m."),
});
const CdiDevice = message("CDIDevice", "A device by its CDI name.", {
  name: optional(1, string, "The name."),
});
export const ContainerAllocateResponse = message("ContainerAllocateResponse", "What a container gets.", {
  envs: required(1, map(string), "Variables."),
  mounts: required(2, list(PluginMount), "Mounts."),
  devices: required(3, list(DeviceSpec), "Device files."),
  annotations: required(4, map(string), "Annotations for the runtime."),
  cdiDevices: required(5, list(CdiDevice), "Devices by their CDI names."),
});
export const AllocateResponse = message("AllocateResponse", "What containers get.", {
  containerResponses: required(1, list(ContainerAllocateResponse), "By container."),
});
export const PreStartRequest = message("PreStartContainerRequest", "A container is about to start.", {
  devicesIds: required(1, list(string), "Its devices."),
});
const ContainerPreferredRequest = message("ContainerPreferredAllocationRequest", "For one container.", {
  availableIds: required(1, list(string), "Devices to choose from."),
  mustIncludeIds: required(2, list(string), "Devices that it has already."),
  allocationSize: optional(3, int32, "How many it gets."),
});
export const PreferredRequest = message("PreferredAllocationRequest", "Which are the best?", {
  containerRequests: required(1, list(ContainerPreferredRequest), "By container."),
});
const ContainerPreferredResponse = message("ContainerPreferredAllocationResponse", "For one container.", {
  deviceIds: required(1, list(string), "The best."),
});
export const PreferredResponse = message("PreferredAllocationResponse", "The best.", {
  containerResponses: required(1, list(ContainerPreferredResponse), "By container."),
});

export type PluginOptions = MessageOf<typeof PluginOptions>;
export type PluginDevice = MessageOf<typeof PluginDevice>;
export type ContainerAllocateResponse = MessageOf<typeof ContainerAllocateResponse>;

const answerCodec = protobufCodec(ContainerAllocateResponse, { style: "proto3" });
export const allocationBytes = (answer: ContainerAllocateResponse): string =>
  Buffer.from(answerCodec.encode(answer)).toString("base64");
export const allocationFrom = (text: string): ContainerAllocateResponse =>
  answerCodec.decode(Buffer.from(text, "base64")) as ContainerAllocateResponse;

export const devicePlugin = {
  register: procedureOf("/v1beta1.Registration/Register", RegisterRequest, Empty),
  options: procedureOf("/v1beta1.DevicePlugin/GetDevicePluginOptions", Empty, PluginOptions),
  listAndWatch: procedureOf("/v1beta1.DevicePlugin/ListAndWatch", Empty, ListAndWatchResponse),
  allocate: procedureOf("/v1beta1.DevicePlugin/Allocate", AllocateRequest, AllocateResponse),
  preStart: procedureOf("/v1beta1.DevicePlugin/PreStartContainer", PreStartRequest, Empty),
  preferred: procedureOf("/v1beta1.DevicePlugin/GetPreferredAllocation", PreferredRequest, PreferredResponse),
};
