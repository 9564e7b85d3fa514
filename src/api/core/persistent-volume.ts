// Persistent volumes.
import {
  type TypeOf,
  bool,
  embedded,
  inline,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { gated, hiddenDefault, openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import {
  PersistentVolumeAccessMode,
  PersistentVolumeMode,
  PersistentVolumeReclaimPolicy,
  ResourceList,
} from "../named-types.ts";
import { core } from "../packages.ts";
import { NodeSelector } from "./affinity.ts";
import { ObjectReference, SecretReference } from "./reference.ts";
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  CephFSPersistentVolumeSource,
  CinderPersistentVolumeSource,
  FCVolumeSource,
  FlexPersistentVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDPersistentVolumeSource,
  ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "./volume-vendor.ts";
import { HostPathVolumeSource } from "./volume.ts";

const { message, kind, named } = core;

export const LocalVolumeSource = message(
  "LocalVolumeSource",
  "A disk, partition or directory of a particular node.",
  {
    path: required(1, string, "Path of the disk, partition or directory on the node."),
    fsType: pointer(2, string, "Type of the file system; detected if unset."),
  },
);
export type LocalVolumeSource = TypeOf<typeof LocalVolumeSource>;

export const CSIPersistentVolumeSource = message(
  "CSIPersistentVolumeSource",
  "A persistent volume provided by a CSI driver.",
  {
    driver: required(1, string, "Name of the CSI driver."),
    volumeHandle: required(2, string, "Unique ID of the volume assigned by the driver."),
    readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
    fsType: optional(4, string, "Type of the file system on the volume; chosen by the driver if empty."),
    volumeAttributes: optional(
      5,
      map(string),
      "Attributes of the volume, set by the driver when it was provisioned.",
    ),
    controllerPublishSecretRef: optional(
      6,
      SecretReference,
      "Secret for attaching and detaching the volume.",
    ),
    nodeStageSecretRef: optional(7, SecretReference, "Secret for staging the volume on a node."),
    nodePublishSecretRef: optional(
      8,
      SecretReference,
      "Secret for publishing (mounting) the volume on a node.",
    ),
    controllerExpandSecretRef: optional(
      9,
      SecretReference,
      "Secret for the controller's part of expanding the volume.",
    ),
    nodeExpandSecretRef: optional(10, SecretReference, "Secret for the node's part of expanding the volume."),
  },
);
export type CSIPersistentVolumeSource = TypeOf<typeof CSIPersistentVolumeSource>;

export const PersistentVolumeSource = message(
  "PersistentVolumeSource",
  "Source of a persistent volume; exactly one member is set.",
  {
    gcePersistentDisk: optional(1, GCEPersistentDiskVolumeSource, "A Google Compute Engine disk."),
    awsElasticBlockStore: optional(2, AWSElasticBlockStoreVolumeSource, "An Amazon EBS disk."),
    hostPath: optional(
      3,
      HostPathVolumeSource,
      "A directory on the host, suitable only for tests on a single node.",
    ),
    glusterfs: optional(4, GlusterfsPersistentVolumeSource, "A Glusterfs volume."),
    nfs: optional(5, NFSVolumeSource, "A directory exported by an NFS server."),
    rbd: optional(6, RBDPersistentVolumeSource, "A Ceph block device."),
    iscsi: optional(7, ISCSIPersistentVolumeSource, "An iSCSI disk."),
    cinder: optional(8, CinderPersistentVolumeSource, "An OpenStack Cinder disk."),
    cephfs: optional(9, CephFSPersistentVolumeSource, "A Ceph file system."),
    fc: optional(10, FCVolumeSource, "A Fibre Channel disk."),
    flocker: optional(11, FlockerVolumeSource, "A Flocker dataset."),
    flexVolume: optional(
      12,
      FlexPersistentVolumeSource,
      "A volume provided by a FlexVolume driver installed on the node.",
    ),
    azureFile: optional(13, AzureFilePersistentVolumeSource, "An Azure file share."),
    vsphereVolume: optional(14, VsphereVirtualDiskVolumeSource, "A vSphere disk."),
    quobyte: optional(15, QuobyteVolumeSource, "A Quobyte volume."),
    azureDisk: optional(16, AzureDiskVolumeSource, "An Azure data disk."),
    photonPersistentDisk: optional(17, PhotonPersistentDiskVolumeSource, "A Photon controller disk."),
    portworxVolume: optional(18, PortworxVolumeSource, "A Portworx volume."),
    scaleIO: optional(19, ScaleIOPersistentVolumeSource, "A ScaleIO volume."),
    local: optional(20, LocalVolumeSource, "A disk, partition or directory of a particular node."),
    storageos: optional(21, StorageOSPersistentVolumeSource, "A StorageOS volume."),
    csi: optional(22, CSIPersistentVolumeSource, "A volume provided by an external CSI driver."),
  },
);
export type PersistentVolumeSource = TypeOf<typeof PersistentVolumeSource>;

export const VolumeNodeAffinity = message(
  "VolumeNodeAffinity",
  "Constraints on the nodes from which a volume can be accessed.",
  {
    required: optional(1, NodeSelector, "Node selector that the nodes must match."),
  },
);
export type VolumeNodeAffinity = TypeOf<typeof VolumeNodeAffinity>;

export const PersistentVolumeSpec = message("PersistentVolumeSpec", "Specification of a persistent volume.", {
  capacity: optional(1, ResourceList, "Resources and capacity of the volume, notably storage."),
  persistentVolumeSource: inline(2, PersistentVolumeSource),
  accessModes: optional(3, list(PersistentVolumeAccessMode), "Ways in which the volume can be mounted."),
  claimRef: optional(
    4,
    ObjectReference,
    "Reference to the claim that the volume is bound to, or reserved for.",
    { atomicMap: false },
  ),
  persistentVolumeReclaimPolicy: optional(
    5,
    PersistentVolumeReclaimPolicy,
    "Reclaim policy once the claim is deleted: Retain, Delete or Recycle (deprecated).",
    openEnum("Delete", "Recycle", "Retain"),
  ),
  storageClassName: optional(
    6,
    string,
    "Name of the storage class of the volume; empty if it belongs to none.",
  ),
  mountOptions: optional(
    7,
    list(string),
    "Mount options, such as ro or soft; not validated, a mount fails if one is invalid.",
  ),
  volumeMode: pointer(
    8,
    PersistentVolumeMode,
    "Whether the volume is used with a file system (Filesystem) or as a raw device (Block).",
    openEnum("Block", "Filesystem"),
  ),
  nodeAffinity: optional(
    9,
    VolumeNodeAffinity,
    "Constraints on the nodes from which the volume can be accessed.",
  ),
});
export type PersistentVolumeSpec = TypeOf<typeof PersistentVolumeSpec>;

export const PersistentVolumeStatus = message(
  "PersistentVolumeStatus",
  "Current status of a persistent volume.",
  {
    phase: optional(
      1,
      named("PersistentVolumePhase", string),
      "Phase of the volume: Pending, Available, Bound, Released or Failed.",
      {
        ...openEnum("Available", "Bound", "Failed", "Pending", "Released"),
        ...hiddenDefault("Pending"),
      },
    ),
    message: optional(2, string, "Human-readable details of why the object is in this state."),
    reason: optional(3, string, "Machine-readable reason for the current state, one CamelCase word."),
    lastPhaseTransitionTime: pointer(
      4,
      time,
      "Time at which the phase last changed.",
      gated("PersistentVolumeLastPhaseTransitionTime"),
    ),
  },
);
export type PersistentVolumeStatus = TypeOf<typeof PersistentVolumeStatus>;

export const PersistentVolume = kind(
  "PersistentVolume",
  "A piece of storage in the cluster, provisioned by an administrator or dynamically.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, PersistentVolumeSpec, "Specification of the volume."),
    status: embedded(3, PersistentVolumeStatus, "Current status of the volume."),
  },
);
export type PersistentVolume = TypeOf<typeof PersistentVolume>;
