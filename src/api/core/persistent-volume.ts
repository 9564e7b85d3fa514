// Persistent volumes.
import { type TypeOf, bool, embedded, inline, list, map, optional, pointer, required, string } from "#schema";
import { hiddenDefault, openEnum } from "../extras.ts";
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

export const LocalVolumeSource = message("LocalVolumeSource", "A disk or directory of one node.", {
  path: required(1, string, "Path on the node."),
  fsType: pointer(2, string, "File system on it; guessed when unset."),
});
export type LocalVolumeSource = TypeOf<typeof LocalVolumeSource>;

export const CSIPersistentVolumeSource = message("CSIPersistentVolumeSource", "A volume of a CSI driver.", {
  driver: required(1, string, "Name of the driver."),
  volumeHandle: required(2, string, "Identity of the volume within the driver."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
  fsType: optional(4, string, "File system on it; the driver's choice when empty."),
  volumeAttributes: optional(5, map(string), "Settings the volume was made with."),
  controllerPublishSecretRef: optional(6, SecretReference, "Secret for attaching and detaching."),
  nodeStageSecretRef: optional(7, SecretReference, "Secret for staging on a node."),
  nodePublishSecretRef: optional(8, SecretReference, "Secret for mounting on a node."),
  controllerExpandSecretRef: optional(9, SecretReference, "Secret for growing the volume."),
  nodeExpandSecretRef: optional(10, SecretReference, "Secret for growing the volume on a node."),
});
export type CSIPersistentVolumeSource = TypeOf<typeof CSIPersistentVolumeSource>;

export const PersistentVolumeSource = message(
  "PersistentVolumeSource",
  "Where the storage is; exactly one is set.",
  {
    gcePersistentDisk: optional(1, GCEPersistentDiskVolumeSource, "A Google Compute Engine disk."),
    awsElasticBlockStore: optional(2, AWSElasticBlockStoreVolumeSource, "An Amazon EBS disk."),
    hostPath: optional(3, HostPathVolumeSource, "A directory of the node; for tests on one machine."),
    glusterfs: optional(4, GlusterfsPersistentVolumeSource, "A Glusterfs volume."),
    nfs: optional(5, NFSVolumeSource, "A directory of an NFS server."),
    rbd: optional(6, RBDPersistentVolumeSource, "A Ceph block device."),
    iscsi: optional(7, ISCSIPersistentVolumeSource, "An iSCSI disk."),
    cinder: optional(8, CinderPersistentVolumeSource, "An OpenStack Cinder disk."),
    cephfs: optional(9, CephFSPersistentVolumeSource, "A Ceph file system."),
    fc: optional(10, FCVolumeSource, "A Fibre Channel disk."),
    flocker: optional(11, FlockerVolumeSource, "A Flocker dataset."),
    flexVolume: optional(12, FlexPersistentVolumeSource, "A volume that a program on the node attaches."),
    azureFile: optional(13, AzureFilePersistentVolumeSource, "An Azure file share."),
    vsphereVolume: optional(14, VsphereVirtualDiskVolumeSource, "A vSphere disk."),
    quobyte: optional(15, QuobyteVolumeSource, "A Quobyte volume."),
    azureDisk: optional(16, AzureDiskVolumeSource, "An Azure data disk."),
    photonPersistentDisk: optional(17, PhotonPersistentDiskVolumeSource, "A Photon controller disk."),
    portworxVolume: optional(18, PortworxVolumeSource, "A Portworx volume."),
    scaleIO: optional(19, ScaleIOPersistentVolumeSource, "A ScaleIO volume."),
    local: optional(20, LocalVolumeSource, "A disk or directory of one node."),
    storageos: optional(21, StorageOSPersistentVolumeSource, "A StorageOS volume."),
    csi: optional(22, CSIPersistentVolumeSource, "A volume of a CSI driver."),
  },
);
export type PersistentVolumeSource = TypeOf<typeof PersistentVolumeSource>;

export const VolumeNodeAffinity = message("VolumeNodeAffinity", "From which nodes a volume can be reached.", {
  required: optional(1, NodeSelector, "Nodes that must match."),
});
export type VolumeNodeAffinity = TypeOf<typeof VolumeNodeAffinity>;

export const PersistentVolumeSpec = message("PersistentVolumeSpec", "What a volume is.", {
  capacity: optional(1, ResourceList, "Its size."),
  persistentVolumeSource: inline(2, PersistentVolumeSource),
  accessModes: optional(3, list(PersistentVolumeAccessMode), "How it can be mounted."),
  claimRef: optional(4, ObjectReference, "The claim it is bound to.", { atomicMap: false }),
  persistentVolumeReclaimPolicy: optional(
    5,
    PersistentVolumeReclaimPolicy,
    "What happens once the claim is gone: Retain, Delete or Recycle.",
    openEnum("Delete", "Recycle", "Retain"),
  ),
  storageClassName: optional(6, string, "Class it belongs to; empty for none."),
  mountOptions: optional(7, list(string), "Options for mounting."),
  volumeMode: pointer(
    8,
    PersistentVolumeMode,
    "Filesystem, or Block for a raw device.",
    openEnum("Block", "Filesystem"),
  ),
  nodeAffinity: optional(9, VolumeNodeAffinity, "From which nodes it can be reached."),
});
export type PersistentVolumeSpec = TypeOf<typeof PersistentVolumeSpec>;

export const PersistentVolumeStatus = message("PersistentVolumeStatus", "Where a volume is in its life.", {
  phase: optional(
    1,
    named("PersistentVolumePhase", string),
    "Pending, Available, Bound, Released or Failed.",
    {
      ...openEnum("Available", "Bound", "Failed", "Pending", "Released"),
      ...hiddenDefault("Pending"),
    },
  ),
  message: optional(2, string, "Why it is in this state, for people."),
  reason: optional(3, string, "Why it is in this state, in one word."),
});
export type PersistentVolumeStatus = TypeOf<typeof PersistentVolumeStatus>;

export const PersistentVolume = kind("PersistentVolume", "A piece of storage in the cluster.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, PersistentVolumeSpec, "What it is."),
  status: embedded(3, PersistentVolumeStatus, "Where it is in its life."),
});
export type PersistentVolume = TypeOf<typeof PersistentVolume>;
