// Volumes of a pod.
import {
  type TypeOf,
  bool,
  embedded,
  inline,
  int32,
  int64,
  list,
  map,
  optional,
  pointer,
  quantity,
  required,
  string,
} from "#schema";
import { hiddenDefault, openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { core } from "../packages.ts";
import { ObjectFieldSelector, ResourceFieldSelector } from "./env.ts";
import { LocalObjectReference } from "./reference.ts";
import { PersistentVolumeClaimSpec } from "./volume-claim.ts";
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "./volume-vendor.ts";

const { message, named } = core;

export const HostPathVolumeSource = message("HostPathVolumeSource", "A file or directory of the node.", {
  path: required(1, string, "Path on the node."),
  type: pointer(
    2,
    named("HostPathType", string),
    "What must be there, or is made there; empty checks nothing.",
    {
      ...openEnum(
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
      ),
      ...hiddenDefault(""),
    },
  ),
});
export type HostPathVolumeSource = TypeOf<typeof HostPathVolumeSource>;

export const EmptyDirVolumeSource = message(
  "EmptyDirVolumeSource",
  "A directory that lives as long as the pod.",
  {
    medium: optional(
      1,
      named("StorageMedium", string),
      "Where it is kept: empty for the node's disk, Memory, or HugePages.",
    ),
    sizeLimit: pointer(2, quantity, "Most it may hold."),
  },
);
export type EmptyDirVolumeSource = TypeOf<typeof EmptyDirVolumeSource>;

export const KeyToPath = message("KeyToPath", "Puts one key into one file.", {
  key: required(1, string, "The key."),
  path: required(2, string, "Path of the file within the volume."),
  mode: pointer(3, int32, "Permission bits of the file; the volume's default when unset."),
});
export type KeyToPath = TypeOf<typeof KeyToPath>;

export const SecretVolumeSource = message("SecretVolumeSource", "A secret as files.", {
  secretName: optional(1, string, "Name of the secret."),
  items: optional(
    2,
    list(KeyToPath),
    "Which keys become which files; all, under their own names, when empty.",
  ),
  defaultMode: pointer(3, int32, "Permission bits of the files.", hiddenDefault(0o644)),
  optional: pointer(4, bool, "Whether the secret or its keys may be missing."),
});
export type SecretVolumeSource = TypeOf<typeof SecretVolumeSource>;

export const ConfigMapVolumeSource = message("ConfigMapVolumeSource", "A config map as files.", {
  localObjectReference: inline(1, LocalObjectReference),
  items: optional(
    2,
    list(KeyToPath),
    "Which keys become which files; all, under their own names, when empty.",
  ),
  defaultMode: pointer(3, int32, "Permission bits of the files.", hiddenDefault(0o644)),
  optional: pointer(4, bool, "Whether the map or its keys may be missing."),
});
export type ConfigMapVolumeSource = TypeOf<typeof ConfigMapVolumeSource>;

export const DownwardAPIVolumeFile = message(
  "DownwardAPIVolumeFile",
  "One file with a value of the pod itself.",
  {
    path: required(1, string, "Path of the file within the volume."),
    fieldRef: optional(2, ObjectFieldSelector, "A field of the pod."),
    resourceFieldRef: optional(3, ResourceFieldSelector, "A request or limit of a container."),
    mode: pointer(4, int32, "Permission bits of the file; the volume's default when unset."),
  },
);
export type DownwardAPIVolumeFile = TypeOf<typeof DownwardAPIVolumeFile>;

export const DownwardAPIVolumeSource = message(
  "DownwardAPIVolumeSource",
  "Values of the pod itself as files.",
  {
    items: optional(1, list(DownwardAPIVolumeFile), "The files."),
    defaultMode: pointer(2, int32, "Permission bits of the files.", hiddenDefault(0o644)),
  },
);
export type DownwardAPIVolumeSource = TypeOf<typeof DownwardAPIVolumeSource>;

export const SecretProjection = message("SecretProjection", "A secret as part of a projected volume.", {
  localObjectReference: inline(1, LocalObjectReference),
  items: optional(
    2,
    list(KeyToPath),
    "Which keys become which files; all, under their own names, when empty.",
  ),
  optional: pointer(4, bool, "Whether the secret or its keys may be missing."),
});
export type SecretProjection = TypeOf<typeof SecretProjection>;

export const ConfigMapProjection = message(
  "ConfigMapProjection",
  "A config map as part of a projected volume.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: optional(
      2,
      list(KeyToPath),
      "Which keys become which files; all, under their own names, when empty.",
    ),
    optional: pointer(4, bool, "Whether the map or its keys may be missing."),
  },
);
export type ConfigMapProjection = TypeOf<typeof ConfigMapProjection>;

export const DownwardAPIProjection = message(
  "DownwardAPIProjection",
  "Values of the pod itself as part of a projected volume.",
  {
    items: optional(1, list(DownwardAPIVolumeFile), "The files."),
  },
);
export type DownwardAPIProjection = TypeOf<typeof DownwardAPIProjection>;

export const ServiceAccountTokenProjection = message(
  "ServiceAccountTokenProjection",
  "A token of the pod's account as part of a projected volume.",
  {
    audience: optional(1, string, "Who is to accept the token; the API server when empty."),
    expirationSeconds: pointer(
      2,
      int64,
      "How long the token is good; it is renewed well before.",
      hiddenDefault(3600),
    ),
    path: required(3, string, "Path of the file within the volume."),
  },
);
export type ServiceAccountTokenProjection = TypeOf<typeof ServiceAccountTokenProjection>;

export const VolumeProjection = message(
  "VolumeProjection",
  "One part of a projected volume; exactly one is set.",
  {
    secret: optional(1, SecretProjection, "Keys of a secret."),
    downwardAPI: optional(2, DownwardAPIProjection, "Values of the pod itself."),
    configMap: optional(3, ConfigMapProjection, "Keys of a config map."),
    serviceAccountToken: optional(4, ServiceAccountTokenProjection, "A token of the pod's account."),
  },
);
export type VolumeProjection = TypeOf<typeof VolumeProjection>;

export const ProjectedVolumeSource = message("ProjectedVolumeSource", "Several sources in one directory.", {
  sources: required(1, list(VolumeProjection), "The parts; later ones win where paths collide.", {
    published: "optional",
  }),
  defaultMode: pointer(2, int32, "Permission bits of the files.", hiddenDefault(0o644)),
});
export type ProjectedVolumeSource = TypeOf<typeof ProjectedVolumeSource>;

export const PersistentVolumeClaimVolumeSource = message(
  "PersistentVolumeClaimVolumeSource",
  "The volume that a claim is bound to.",
  {
    claimName: required(1, string, "Name of the claim, in the pod's namespace."),
    readOnly: optional(2, bool, "Forces all mounts to be read-only."),
  },
);
export type PersistentVolumeClaimVolumeSource = TypeOf<typeof PersistentVolumeClaimVolumeSource>;

export const CSIVolumeSource = message(
  "CSIVolumeSource",
  "A volume that a CSI driver makes for the pod alone.",
  {
    driver: required(1, string, "Name of the driver."),
    readOnly: pointer(2, bool, "Whether it is mounted read-only."),
    fsType: pointer(3, string, "File system on it; the driver's choice when empty."),
    volumeAttributes: optional(4, map(string), "Settings for the driver."),
    nodePublishSecretRef: optional(5, LocalObjectReference, "Secret handed to the driver on mounting."),
  },
);
export type CSIVolumeSource = TypeOf<typeof CSIVolumeSource>;

export const PersistentVolumeClaimTemplate = message(
  "PersistentVolumeClaimTemplate",
  "What a claim made for a pod looks like.",
  {
    metadata: embedded(1, ObjectMeta, "Labels and annotations of the claim."),
    spec: embedded(2, PersistentVolumeClaimSpec, "What the claim asks for.", { published: "required" }),
  },
);
export type PersistentVolumeClaimTemplate = TypeOf<typeof PersistentVolumeClaimTemplate>;

export const EphemeralVolumeSource = message(
  "EphemeralVolumeSource",
  "A volume behind a claim that lives as long as the pod.",
  {
    volumeClaimTemplate: optional(
      1,
      PersistentVolumeClaimTemplate,
      "The claim to make; its name is the pod's name, a dash and the volume's.",
    ),
  },
);
export type EphemeralVolumeSource = TypeOf<typeof EphemeralVolumeSource>;

export const VolumeSource = message("VolumeSource", "Where a volume comes from; at most one is set.", {
  hostPath: optional(1, HostPathVolumeSource, "A file or directory of the node."),
  emptyDir: optional(2, EmptyDirVolumeSource, "A directory that lives as long as the pod."),
  gcePersistentDisk: optional(3, GCEPersistentDiskVolumeSource, "A Google Compute Engine disk."),
  awsElasticBlockStore: optional(4, AWSElasticBlockStoreVolumeSource, "An Amazon EBS disk."),
  gitRepo: optional(5, GitRepoVolumeSource, "A directory filled from a git repository; deprecated."),
  secret: optional(6, SecretVolumeSource, "A secret as files."),
  nfs: optional(7, NFSVolumeSource, "A directory of an NFS server."),
  iscsi: optional(8, ISCSIVolumeSource, "An iSCSI disk."),
  glusterfs: optional(9, GlusterfsVolumeSource, "A Glusterfs volume."),
  persistentVolumeClaim: optional(
    10,
    PersistentVolumeClaimVolumeSource,
    "The volume that a claim is bound to.",
  ),
  rbd: optional(11, RBDVolumeSource, "A Ceph block device."),
  flexVolume: optional(12, FlexVolumeSource, "A volume that a program on the node attaches."),
  cinder: optional(13, CinderVolumeSource, "An OpenStack Cinder disk."),
  cephfs: optional(14, CephFSVolumeSource, "A Ceph file system."),
  flocker: optional(15, FlockerVolumeSource, "A Flocker dataset."),
  downwardAPI: optional(16, DownwardAPIVolumeSource, "Values of the pod itself as files."),
  fc: optional(17, FCVolumeSource, "A Fibre Channel disk."),
  azureFile: optional(18, AzureFileVolumeSource, "An Azure file share."),
  configMap: optional(19, ConfigMapVolumeSource, "A config map as files."),
  vsphereVolume: optional(20, VsphereVirtualDiskVolumeSource, "A vSphere disk."),
  quobyte: optional(21, QuobyteVolumeSource, "A Quobyte volume."),
  azureDisk: optional(22, AzureDiskVolumeSource, "An Azure data disk."),
  photonPersistentDisk: optional(23, PhotonPersistentDiskVolumeSource, "A Photon controller disk."),
  projected: optional(26, ProjectedVolumeSource, "Several sources in one directory."),
  portworxVolume: optional(24, PortworxVolumeSource, "A Portworx volume."),
  scaleIO: optional(25, ScaleIOVolumeSource, "A ScaleIO volume."),
  storageos: optional(27, StorageOSVolumeSource, "A StorageOS volume."),
  csi: optional(28, CSIVolumeSource, "A volume that a CSI driver makes for the pod alone."),
  ephemeral: optional(29, EphemeralVolumeSource, "A volume behind a claim that lives as long as the pod."),
});
export type VolumeSource = TypeOf<typeof VolumeSource>;

export const Volume = message("Volume", "A named volume that containers mount.", {
  name: required(1, string, "Name within the pod."),
  volumeSource: inline(2, VolumeSource),
});
export type Volume = TypeOf<typeof Volume>;
