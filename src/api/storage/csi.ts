// CSI drivers: their capabilities, nodes and storage capacities.
import {
  type TypeOf,
  bool,
  embedded,
  int32,
  int64,
  list,
  optional,
  pointer,
  quantity,
  required,
  string,
} from "#schema";
import { hiddenDefault, patchMerge, setList, atomicList } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { storage } from "../packages.ts";

const { message, kind, named } = storage;

export const TokenRequest = message("TokenRequest", "Parameters of a service account token.", {
  audience: required(1, string, "Intended audience of the token; defaults to the API server."),
  expirationSeconds: pointer(2, int64, "Lifetime of the token in seconds; defaults to the server's choice."),
});
export type TokenRequest = TypeOf<typeof TokenRequest>;

export const CSIDriverSpec = message("CSIDriverSpec", "Specification of a CSI driver.", {
  attachRequired: pointer(
    1,
    bool,
    "Whether volumes must be attached before they are mounted; defaults to true.",
    hiddenDefault(true),
  ),
  podInfoOnMount: pointer(
    2,
    bool,
    "Whether the driver needs information on the pod when mounting a volume; defaults to false.",
    hiddenDefault(false),
  ),
  volumeLifecycleModes: optional(
    3,
    list(named("VolumeLifecycleMode", string)),
    "Kinds of volumes that the driver supports: Persistent (default), Ephemeral or both.",
    {
      ...hiddenDefault(["Persistent"]),
      ...setList,
    },
  ),
  storageCapacity: pointer(
    4,
    bool,
    "Whether the scheduler considers the storage capacity that the driver reports; defaults to false.",
    hiddenDefault(false),
  ),
  fsGroupPolicy: pointer(
    5,
    named("FSGroupPolicy", string),
    "When the volume is changed to fsGroup: None, File or ReadWriteOnceWithFSType (default).",
    hiddenDefault("ReadWriteOnceWithFSType"),
  ),
  tokenRequests: optional(
    6,
    list(TokenRequest),
    "Service account tokens of the pod that the driver receives when mounting a volume.",
    atomicList,
  ),
  requiresRepublish: pointer(
    7,
    bool,
    "Whether volumes are republished periodically to reflect changes; defaults to false.",
    hiddenDefault(false),
  ),
  seLinuxMount: pointer(
    8,
    bool,
    "Whether the driver supports mounting volumes with an SELinux context; defaults to false.",
  ),
});
export type CSIDriverSpec = TypeOf<typeof CSIDriverSpec>;

export const CSIDriver = kind("CSIDriver", "A CSI volume driver deployed in the cluster.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, CSIDriverSpec, "Specification of the CSI driver.", { published: "required" }),
});
export type CSIDriver = TypeOf<typeof CSIDriver>;

export const VolumeNodeResources = message("VolumeNodeResources", "Volume limits of a node.", {
  count: pointer(1, int32, "Maximum number of volumes of the driver on the node; unlimited if unset."),
});
export type VolumeNodeResources = TypeOf<typeof VolumeNodeResources>;

export const CSINodeDriver = message("CSINodeDriver", "A CSI driver installed on a node.", {
  name: required(1, string, "Name of the CSI driver."),
  nodeID: required(2, string, "ID of the node in the scheme of the driver."),
  topologyKeys: required(
    3,
    list(string),
    "Keys of the node labels that describe the topology supported by the driver.",
    {
      published: "optional",
    },
  ),
  allocatable: optional(
    4,
    VolumeNodeResources,
    "Volume resources of the node that are available for scheduling.",
  ),
});
export type CSINodeDriver = TypeOf<typeof CSINodeDriver>;

export const CSINodeSpec = message("CSINodeSpec", "CSI drivers installed on a node.", {
  drivers: required(
    1,
    list(CSINodeDriver),
    "List of the CSI drivers installed on the node.",
    patchMerge("name"),
  ),
});
export type CSINodeSpec = TypeOf<typeof CSINodeSpec>;

export const CSINode = kind("CSINode", "CSI drivers installed on the node of the same name.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, CSINodeSpec, "CSI drivers installed on the node.", { published: "required" }),
});
export type CSINode = TypeOf<typeof CSINode>;

export const CSIStorageCapacity = kind(
  "CSIStorageCapacity",
  "Storage capacity available for a storage class in a topology segment.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    nodeTopology: optional(2, LabelSelector, "Nodes that can access the storage; no nodes if unset."),
    storageClassName: required(3, string, "Name of the storage class; immutable."),
    capacity: pointer(4, quantity, "Available capacity in bytes, as reported by the driver."),
    maximumVolumeSize: pointer(5, quantity, "Size of the largest volume that can be created."),
  },
);
export type CSIStorageCapacity = TypeOf<typeof CSIStorageCapacity>;
