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

export const TokenRequest = message("TokenRequest", "A token that a driver gets for the pod's account.", {
  audience: required(1, string, "Who is to accept it; the API server when empty."),
  expirationSeconds: pointer(2, int64, "How long it is good."),
});
export type TokenRequest = TypeOf<typeof TokenRequest>;

export const CSIDriverSpec = message("CSIDriverSpec", "What a driver can do and needs.", {
  attachRequired: pointer(
    1,
    bool,
    "Whether volumes must be attached before they are mounted.",
    hiddenDefault(true),
  ),
  podInfoOnMount: pointer(
    2,
    bool,
    "Whether the driver is told about the pod on mounting.",
    hiddenDefault(false),
  ),
  volumeLifecycleModes: optional(
    3,
    list(named("VolumeLifecycleMode", string)),
    "Persistent, Ephemeral or both.",
    {
      ...hiddenDefault(["Persistent"]),
      ...setList,
    },
  ),
  storageCapacity: pointer(4, bool, "Whether placing pods looks at the room left.", hiddenDefault(false)),
  fsGroupPolicy: pointer(
    5,
    named("FSGroupPolicy", string),
    "When volumes are handed to fsGroup: None, File or ReadWriteOnceWithFSType.",
    hiddenDefault("ReadWriteOnceWithFSType"),
  ),
  tokenRequests: optional(6, list(TokenRequest), "Tokens that the driver gets on mounting.", atomicList),
  requiresRepublish: pointer(
    7,
    bool,
    "Whether mounting is repeated from time to time.",
    hiddenDefault(false),
  ),
  seLinuxMount: pointer(8, bool, "Whether volumes can be mounted with an SELinux label."),
});
export type CSIDriverSpec = TypeOf<typeof CSIDriverSpec>;

export const CSIDriver = kind("CSIDriver", "A driver for volumes.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, CSIDriverSpec, "What it can do and needs.", { published: "required" }),
});
export type CSIDriver = TypeOf<typeof CSIDriver>;

export const VolumeNodeResources = message("VolumeNodeResources", "How many volumes a node can take.", {
  count: pointer(1, int32, "The number; no limit when unset."),
});
export type VolumeNodeResources = TypeOf<typeof VolumeNodeResources>;

export const CSINodeDriver = message("CSINodeDriver", "A driver on a node.", {
  name: required(1, string, "Name of the driver."),
  nodeID: required(2, string, "Name of the node within the driver."),
  topologyKeys: required(3, list(string), "Node labels that say from where its volumes can be reached.", {
    published: "optional",
  }),
  allocatable: optional(4, VolumeNodeResources, "How many of its volumes the node can take."),
});
export type CSINodeDriver = TypeOf<typeof CSINodeDriver>;

export const CSINodeSpec = message("CSINodeSpec", "Drivers on a node.", {
  drivers: required(1, list(CSINodeDriver), "The drivers.", patchMerge("name")),
});
export type CSINodeSpec = TypeOf<typeof CSINodeSpec>;

export const CSINode = kind("CSINode", "Which drivers run on a node of the same name.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, CSINodeSpec, "Drivers on it.", { published: "required" }),
});
export type CSINode = TypeOf<typeof CSINode>;

export const CSIStorageCapacity = kind("CSIStorageCapacity", "How much room a class has in one place.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  nodeTopology: optional(2, LabelSelector, "Nodes from which it can be reached; none when unset."),
  storageClassName: required(3, string, "The class."),
  capacity: pointer(4, quantity, "The room left."),
  maximumVolumeSize: pointer(5, quantity, "The largest volume that can be made."),
});
export type CSIStorageCapacity = TypeOf<typeof CSIStorageCapacity>;
