// The messages of the Container Storage Interface that a node needs (csi.v1, service Node).
import type { MessageOf } from "#cri";
import { apiPackage, bool, int32, int64, list, map, optional, required, string } from "#schema";
import { procedureOf } from "../grpc-procedure.ts";

const { message } = apiPackage({ package: "csi.v1" });

const Empty = message("Empty", "An empty message.", {});
const MountVolume = message("MountVolume", "A volume with a file system.", {
  fsType: optional(1, string, "The file system type."),
  mountFlags: required(2, list(string), "Mount options."),
  volumeMountGroup: optional(3, string, "The group that its files belong to."),
});
const BlockVolume = message("BlockVolume", "A raw block volume.", {});
const AccessMode = message("AccessMode", "The access mode.", { mode: optional(1, int32, "The mode.") });
const VolumeCapability = message("VolumeCapability", "How a volume is to be used.", {
  block: optional(1, BlockVolume, "Block access."),
  mount: optional(2, MountVolume, "Mount access."),
  accessMode: optional(3, AccessMode, "The access mode."),
});
export type VolumeCapability = MessageOf<typeof VolumeCapability>;

const NodeStageRequest = message("NodeStageVolumeRequest", "Stages a volume on the node.", {
  volumeId: required(1, string, "The volume."),
  publishContext: required(2, map(string), "The metadata of its attachment."),
  stagingTargetPath: required(3, string, "The staging path."),
  volumeCapability: optional(4, VolumeCapability, "How it is to be used."),
  secrets: required(5, map(string), "Secrets of the driver."),
  volumeContext: required(6, map(string), "The attributes from provisioning."),
});
const NodeUnstageRequest = message("NodeUnstageVolumeRequest", "Unstages a volume.", {
  volumeId: required(1, string, "The volume."),
  stagingTargetPath: required(2, string, "The staging path."),
});
const NodePublishRequest = message("NodePublishVolumeRequest", "Publishes a volume for a pod.", {
  volumeId: required(1, string, "The volume."),
  publishContext: required(2, map(string), "The metadata of its attachment."),
  stagingTargetPath: optional(3, string, "The staging path."),
  targetPath: required(4, string, "The target path of the pod."),
  volumeCapability: optional(5, VolumeCapability, "How it is to be used."),
  readonly: optional(6, bool, "Whether the volume is read-only."),
  secrets: required(7, map(string), "Secrets of the driver."),
  volumeContext: required(
    8,
    map(string),
    "The attributes from provisioning and, if requested by the driver, information about the pod.",
  ),
});
const NodeUnpublishRequest = message("NodeUnpublishVolumeRequest", "Unpublishes a volume of a pod.", {
  volumeId: required(1, string, "The volume."),
  targetPath: required(2, string, "The target path of the pod."),
});
const NodeStatsRequest = message("NodeGetVolumeStatsRequest", "Requests the usage of a volume.", {
  volumeId: required(1, string, "The volume."),
  volumePath: required(2, string, "The target path of the pod."),
  stagingTargetPath: optional(3, string, "The staging path."),
});
const VolumeUsage = message("VolumeUsage", "The usage of a volume in one unit.", {
  available: required(1, int64, "Available units."),
  total: required(2, int64, "Total units."),
  used: required(3, int64, "Used units."),
  unit: optional(4, int32, "1 for bytes, 2 for inodes."),
});
const NodeStatsResponse = message("NodeGetVolumeStatsResponse", "The usage of a volume.", {
  usage: required(1, list(VolumeUsage), "By unit."),
});
const CapacityRange = message("CapacityRange", "A range of sizes.", {
  requiredBytes: optional(1, int64, "Minimum size."),
  limitBytes: optional(2, int64, "Maximum size."),
});
const NodeExpandRequest = message("NodeExpandVolumeRequest", "Expands the file system of a volume.", {
  volumeId: required(1, string, "The volume."),
  volumePath: required(2, string, "The target path of the pod."),
  capacityRange: optional(3, CapacityRange, "The requested size."),
  stagingTargetPath: optional(4, string, "The staging path."),
  volumeCapability: optional(5, VolumeCapability, "How the volume is used."),
  secrets: required(6, map(string), "Secrets of the driver."),
});
const NodeExpandResponse = message("NodeExpandVolumeResponse", "The result of an expansion.", {
  capacityBytes: optional(1, int64, "The new size."),
});
const NodeCapability = message("NodeServiceCapability", "A capability of a driver.", {
  rpc: optional(
    1,
    message("RPC", "A procedure.", { type: optional(1, int32, "Its number.") }),
    "A supported procedure.",
  ),
});
const NodeCapabilitiesResponse = message("NodeGetCapabilitiesResponse", "The capabilities of a driver.", {
  capabilities: required(1, list(NodeCapability), "The capabilities."),
});
const Topology = message("Topology", "A topology.", { segments: required(1, map(string), "Its segments.") });
const NodeInfoResponse = message("NodeGetInfoResponse", "Information of the driver about the node.", {
  nodeId: required(1, string, "The node's ID."),
  maxVolumesPerNode: optional(2, int64, "Maximum number of volumes."),
  accessibleTopology: optional(3, Topology, "The node's topology."),
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
