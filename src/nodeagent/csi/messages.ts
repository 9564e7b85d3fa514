// The messages of the Container Storage Interface that a node needs (csi.v1, service Node).
import type { MessageOf } from "#cri";
import { apiPackage, bool, int32, int64, list, map, optional, required, string } from "#schema";
import { procedureOf } from "../grpc-procedure.ts";

const { message } = apiPackage({ package: "csi.v1" });

const Empty = message("Empty", "Nothing.", {});
const MountVolume = message("MountVolume", "A volume with a file system.", {
  fsType: optional(1, string, "Its type."),
  mountFlags: required(2, list(string), "Options for mounting it."),
  volumeMountGroup: optional(3, string, "The group that its files belong to."),
});
const BlockVolume = message("BlockVolume", "A volume as a device.", {});
const AccessMode = message("AccessMode", "Who uses it how.", { mode: optional(1, int32, "The mode.") });
const VolumeCapability = message("VolumeCapability", "How a volume is to be used.", {
  block: optional(1, BlockVolume, "As a device."),
  mount: optional(2, MountVolume, "With a file system."),
  accessMode: optional(3, AccessMode, "By whom."),
});
export type VolumeCapability = MessageOf<typeof VolumeCapability>;

const NodeStageRequest = message("NodeStageVolumeRequest", "Makes a volume ready on the node.", {
  volumeId: required(1, string, "The volume."),
  publishContext: required(2, map(string), "What its attachment told."),
  stagingTargetPath: required(3, string, "Where to."),
  volumeCapability: optional(4, VolumeCapability, "How it is to be used."),
  secrets: required(5, map(string), "Secrets of the driver."),
  volumeContext: required(6, map(string), "What its provisioner told."),
});
const NodeUnstageRequest = message("NodeUnstageVolumeRequest", "Undoes that.", {
  volumeId: required(1, string, "The volume."),
  stagingTargetPath: required(2, string, "Where it is."),
});
const NodePublishRequest = message("NodePublishVolumeRequest", "Gives a volume to a pod.", {
  volumeId: required(1, string, "The volume."),
  publishContext: required(2, map(string), "What its attachment told."),
  stagingTargetPath: optional(3, string, "Where it was made ready."),
  targetPath: required(4, string, "Where the pod has it."),
  volumeCapability: optional(5, VolumeCapability, "How it is to be used."),
  readonly: optional(6, bool, "Whether it can only be read."),
  secrets: required(7, map(string), "Secrets of the driver."),
  volumeContext: required(
    8,
    map(string),
    "What its provisioner told, and what the driver wants to know of the pod.",
  ),
});
const NodeUnpublishRequest = message("NodeUnpublishVolumeRequest", "Takes it from the pod.", {
  volumeId: required(1, string, "The volume."),
  targetPath: required(2, string, "Where the pod has it."),
});
const NodeStatsRequest = message("NodeGetVolumeStatsRequest", "How full is it?", {
  volumeId: required(1, string, "The volume."),
  volumePath: required(2, string, "Where the pod has it."),
  stagingTargetPath: optional(3, string, "Where it was made ready."),
});
const VolumeUsage = message("VolumeUsage", "How full it is.", {
  available: required(1, int64, "What is left."),
  total: required(2, int64, "The whole."),
  used: required(3, int64, "What is used."),
  unit: optional(4, int32, "1 for bytes, 2 for inodes."),
});
const NodeStatsResponse = message("NodeGetVolumeStatsResponse", "How full it is.", {
  usage: required(1, list(VolumeUsage), "By unit."),
});
const CapacityRange = message("CapacityRange", "A size.", {
  requiredBytes: optional(1, int64, "At least."),
  limitBytes: optional(2, int64, "At most."),
});
const NodeExpandRequest = message("NodeExpandVolumeRequest", "Makes its file system as large as it is.", {
  volumeId: required(1, string, "The volume."),
  volumePath: required(2, string, "Where the pod has it."),
  capacityRange: optional(3, CapacityRange, "Its size."),
  stagingTargetPath: optional(4, string, "Where it was made ready."),
  volumeCapability: optional(5, VolumeCapability, "How it is used."),
  secrets: required(6, map(string), "Secrets of the driver."),
});
const NodeExpandResponse = message("NodeExpandVolumeResponse", "It is.", {
  capacityBytes: optional(1, int64, "Its size now."),
});
const NodeCapability = message("NodeServiceCapability", "Something that a driver can.", {
  rpc: optional(
    1,
    message("RPC", "A call.", { type: optional(1, int32, "Which.") }),
    "A call that it takes.",
  ),
});
const NodeCapabilitiesResponse = message("NodeGetCapabilitiesResponse", "What a driver can.", {
  capabilities: required(1, list(NodeCapability), "All of it."),
});
const Topology = message("Topology", "A place.", { segments: required(1, map(string), "Its labels.") });
const NodeInfoResponse = message("NodeGetInfoResponse", "The node as the driver knows it.", {
  nodeId: required(1, string, "Its name there."),
  maxVolumesPerNode: optional(2, int64, "How many volumes it takes."),
  accessibleTopology: optional(3, Topology, "Where it is."),
});
export type CsiNodeInfo = MessageOf<typeof NodeInfoResponse>;

/** Numbers of the capabilities of a driver's node service. */
export const nodeCapability = {
  stage: 1,
  stats: 2,
  expand: 3,
  singleNodeMultiWriter: 5,
  mountGroup: 6,
} as const;

export const csiNodeService = {
  stage: procedureOf("/csi.v1.Node/NodeStageVolume", NodeStageRequest, Empty),
  unstage: procedureOf("/csi.v1.Node/NodeUnstageVolume", NodeUnstageRequest, Empty),
  publish: procedureOf("/csi.v1.Node/NodePublishVolume", NodePublishRequest, Empty),
  unpublish: procedureOf("/csi.v1.Node/NodeUnpublishVolume", NodeUnpublishRequest, Empty),
  stats: procedureOf("/csi.v1.Node/NodeGetVolumeStats", NodeStatsRequest, NodeStatsResponse),
  expand: procedureOf("/csi.v1.Node/NodeExpandVolume", NodeExpandRequest, NodeExpandResponse),
  capabilities: procedureOf("/csi.v1.Node/NodeGetCapabilities", Empty, NodeCapabilitiesResponse),
  info: procedureOf("/csi.v1.Node/NodeGetInfo", Empty, NodeInfoResponse),
};
