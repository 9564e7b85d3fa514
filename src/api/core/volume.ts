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

export const HostPathVolumeSource = message("HostPathVolumeSource", "A file or directory on the host node.", {
  path: required(1, string, "Path of the file or directory on the host."),
  type: pointer(
    2,
    named("HostPathType", string),
    "What must exist at the path, or is created there; empty (default) performs no check.",
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
  "An initially empty directory with the lifetime of the pod.",
  {
    medium: optional(
      1,
      named("StorageMedium", string),
      "Storage medium: empty for the default medium of the node, Memory, or HugePages.",
    ),
    sizeLimit: pointer(
      2,
      quantity,
      "Maximum amount of storage; the limit of the pod's memory also applies to medium Memory.",
    ),
  },
);
export type EmptyDirVolumeSource = TypeOf<typeof EmptyDirVolumeSource>;

export const KeyToPath = message("KeyToPath", "Maps a key to a path within a volume.", {
  key: required(1, string, "Key to project."),
  path: required(2, string, "Path of the file relative to the root of the volume."),
  mode: pointer(3, int32, "Permission bits of the file, from 0 to 0777; the volume's default mode if unset."),
});
export type KeyToPath = TypeOf<typeof KeyToPath>;

export const SecretVolumeSource = message(
  "SecretVolumeSource",
  "A volume with the keys of a secret as files.",
  {
    secretName: optional(1, string, "Name of the secret in the pod's namespace."),
    items: optional(
      2,
      list(KeyToPath),
      "Keys to project and their file paths; if empty, every key becomes a file named after it.",
    ),
    defaultMode: pointer(
      3,
      int32,
      "Default permission bits of the files, from 0 to 0777; 0644 if unset.",
      hiddenDefault(0o644),
    ),
    optional: pointer(4, bool, "Whether the secret or its keys may be missing."),
  },
);
export type SecretVolumeSource = TypeOf<typeof SecretVolumeSource>;

export const ConfigMapVolumeSource = message(
  "ConfigMapVolumeSource",
  "A volume with the keys of a config map as files.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: optional(
      2,
      list(KeyToPath),
      "Keys to project and their file paths; if empty, every key becomes a file named after it.",
    ),
    defaultMode: pointer(
      3,
      int32,
      "Default permission bits of the files, from 0 to 0777; 0644 if unset.",
      hiddenDefault(0o644),
    ),
    optional: pointer(4, bool, "Whether the config map or its keys may be missing."),
  },
);
export type ConfigMapVolumeSource = TypeOf<typeof ConfigMapVolumeSource>;

export const DownwardAPIVolumeFile = message(
  "DownwardAPIVolumeFile",
  "A file with the value of a field of the pod.",
  {
    path: required(1, string, "Path of the file relative to the root of the volume."),
    fieldRef: optional(2, ObjectFieldSelector, "A field of the pod."),
    resourceFieldRef: optional(3, ResourceFieldSelector, "A request or limit of a container."),
    mode: pointer(
      4,
      int32,
      "Permission bits of the file, from 0 to 0777; the volume's default mode if unset.",
    ),
  },
);
export type DownwardAPIVolumeFile = TypeOf<typeof DownwardAPIVolumeFile>;

export const DownwardAPIVolumeSource = message(
  "DownwardAPIVolumeSource",
  "A volume with fields of the pod as files (downward API).",
  {
    items: optional(1, list(DownwardAPIVolumeFile), "Files to create."),
    defaultMode: pointer(
      2,
      int32,
      "Default permission bits of the files, from 0 to 0777; 0644 if unset.",
      hiddenDefault(0o644),
    ),
  },
);
export type DownwardAPIVolumeSource = TypeOf<typeof DownwardAPIVolumeSource>;

export const SecretProjection = message(
  "SecretProjection",
  "Projects keys of a secret into a projected volume.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: optional(
      2,
      list(KeyToPath),
      "Keys to project and their file paths; if empty, every key becomes a file named after it.",
    ),
    optional: pointer(4, bool, "Whether the secret or its keys may be missing."),
  },
);
export type SecretProjection = TypeOf<typeof SecretProjection>;

export const ConfigMapProjection = message(
  "ConfigMapProjection",
  "Projects keys of a config map into a projected volume.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    items: optional(
      2,
      list(KeyToPath),
      "Keys to project and their file paths; if empty, every key becomes a file named after it.",
    ),
    optional: pointer(4, bool, "Whether the config map or its keys may be missing."),
  },
);
export type ConfigMapProjection = TypeOf<typeof ConfigMapProjection>;

export const DownwardAPIProjection = message(
  "DownwardAPIProjection",
  "Projects fields of the pod into a projected volume.",
  {
    items: optional(1, list(DownwardAPIVolumeFile), "Files to create."),
  },
);
export type DownwardAPIProjection = TypeOf<typeof DownwardAPIProjection>;

export const ServiceAccountTokenProjection = message(
  "ServiceAccountTokenProjection",
  "Projects a token of the pod's service account into a projected volume.",
  {
    audience: optional(1, string, "Intended audience of the token; defaults to the API server."),
    expirationSeconds: pointer(
      2,
      int64,
      "Requested lifetime of the token in seconds, at least 600 and by default 3600; renewed in time.",
      hiddenDefault(3600),
    ),
    path: required(3, string, "Path of the file relative to the root of the volume."),
  },
);
export type ServiceAccountTokenProjection = TypeOf<typeof ServiceAccountTokenProjection>;

export const VolumeProjection = message(
  "VolumeProjection",
  "A source of a projected volume; exactly one member is set.",
  {
    secret: optional(1, SecretProjection, "Keys of a secret to project."),
    downwardAPI: optional(2, DownwardAPIProjection, "Fields of the pod to project."),
    configMap: optional(3, ConfigMapProjection, "Keys of a config map to project."),
    serviceAccountToken: optional(4, ServiceAccountTokenProjection, "Service account token to project."),
  },
);
export type VolumeProjection = TypeOf<typeof VolumeProjection>;

export const ProjectedVolumeSource = message(
  "ProjectedVolumeSource",
  "A volume that projects several sources into the same directory.",
  {
    sources: required(
      1,
      list(VolumeProjection),
      "Sources to project; if paths conflict, the later source takes precedence.",
      {
        published: "optional",
      },
    ),
    defaultMode: pointer(
      2,
      int32,
      "Default permission bits of the files, from 0 to 0777; 0644 if unset.",
      hiddenDefault(0o644),
    ),
  },
);
export type ProjectedVolumeSource = TypeOf<typeof ProjectedVolumeSource>;

export const PersistentVolumeClaimVolumeSource = message(
  "PersistentVolumeClaimVolumeSource",
  "A reference to a persistent volume claim in the pod's namespace.",
  {
    claimName: required(1, string, "Name of the claim."),
    readOnly: optional(2, bool, "Whether all mounts of the volume are forced to be read-only."),
  },
);
export type PersistentVolumeClaimVolumeSource = TypeOf<typeof PersistentVolumeClaimVolumeSource>;

export const CSIVolumeSource = message(
  "CSIVolumeSource",
  "An ephemeral volume that a CSI driver provides for the pod.",
  {
    driver: required(1, string, "Name of the CSI driver."),
    readOnly: pointer(2, bool, "Whether the volume is mounted read-only."),
    fsType: pointer(3, string, "Type of the file system on the volume; chosen by the driver if empty."),
    volumeAttributes: optional(4, map(string), "Driver-specific properties of the volume."),
    nodePublishSecretRef: optional(
      5,
      LocalObjectReference,
      "Secret passed to the driver for publishing (mounting) the volume.",
    ),
  },
);
export type CSIVolumeSource = TypeOf<typeof CSIVolumeSource>;

export const PersistentVolumeClaimTemplate = message(
  "PersistentVolumeClaimTemplate",
  "Template of the claim that is created for an ephemeral volume.",
  {
    metadata: embedded(1, ObjectMeta, "Labels and annotations of the created claim."),
    spec: embedded(2, PersistentVolumeClaimSpec, "Specification of the created claim.", {
      published: "required",
    }),
  },
);
export type PersistentVolumeClaimTemplate = TypeOf<typeof PersistentVolumeClaimTemplate>;

export const EphemeralVolumeSource = message(
  "EphemeralVolumeSource",
  "A volume provisioned through a claim that is created and deleted with the pod.",
  {
    volumeClaimTemplate: optional(
      1,
      PersistentVolumeClaimTemplate,
      "Template of the claim, which is named <pod name>-<volume name>.",
    ),
  },
);
export type EphemeralVolumeSource = TypeOf<typeof EphemeralVolumeSource>;

export const VolumeSource = message("VolumeSource", "Source of a volume; at most one member is set.", {
  hostPath: optional(1, HostPathVolumeSource, "A file or directory on the host node."),
  emptyDir: optional(2, EmptyDirVolumeSource, "An initially empty directory with the lifetime of the pod."),
  gcePersistentDisk: optional(3, GCEPersistentDiskVolumeSource, "A Google Compute Engine disk."),
  awsElasticBlockStore: optional(4, AWSElasticBlockStoreVolumeSource, "An Amazon EBS disk."),
  gitRepo: optional(5, GitRepoVolumeSource, "A directory initialized from a git repository; deprecated."),
  secret: optional(6, SecretVolumeSource, "A volume with the keys of a secret as files."),
  nfs: optional(7, NFSVolumeSource, "A directory exported by an NFS server."),
  iscsi: optional(8, ISCSIVolumeSource, "An iSCSI disk."),
  glusterfs: optional(9, GlusterfsVolumeSource, "A Glusterfs volume."),
  persistentVolumeClaim: optional(
    10,
    PersistentVolumeClaimVolumeSource,
    "The persistent volume bound to a claim in the pod's namespace.",
  ),
  rbd: optional(11, RBDVolumeSource, "A Ceph block device."),
  flexVolume: optional(
    12,
    FlexVolumeSource,
    "A volume provided by a FlexVolume driver installed on the node.",
  ),
  cinder: optional(13, CinderVolumeSource, "An OpenStack Cinder disk."),
  cephfs: optional(14, CephFSVolumeSource, "A Ceph file system."),
  flocker: optional(15, FlockerVolumeSource, "A Flocker dataset."),
  downwardAPI: optional(
    16,
    DownwardAPIVolumeSource,
    "A volume with fields of the pod as files (downward API).",
  ),
  fc: optional(17, FCVolumeSource, "A Fibre Channel disk."),
  azureFile: optional(18, AzureFileVolumeSource, "An Azure file share."),
  configMap: optional(19, ConfigMapVolumeSource, "A volume with the keys of a config map as files."),
  vsphereVolume: optional(20, VsphereVirtualDiskVolumeSource, "A vSphere disk."),
  quobyte: optional(21, QuobyteVolumeSource, "A Quobyte volume."),
  azureDisk: optional(22, AzureDiskVolumeSource, "An Azure data disk."),
  photonPersistentDisk: optional(
    23,
    PhotonPersistentDiskVolumeSource,
    "A Photon Controller persistent disk.",
  ),
  projected: optional(
    26,
    ProjectedVolumeSource,
    "A volume that projects several sources into the same directory.",
  ),
  portworxVolume: optional(24, PortworxVolumeSource, "A Portworx volume."),
  scaleIO: optional(25, ScaleIOVolumeSource, "A ScaleIO volume."),
  storageos: optional(27, StorageOSVolumeSource, "A StorageOS volume."),
  csi: optional(28, CSIVolumeSource, "An ephemeral volume that a CSI driver provides for the pod."),
  ephemeral: optional(
    29,
    EphemeralVolumeSource,
    "A volume provisioned through a claim that is created and deleted with the pod.",
  ),
});
export type VolumeSource = TypeOf<typeof VolumeSource>;

export const Volume = message("Volume", "A named volume that the containers of a pod can mount.", {
  name: required(1, string, "Name of the volume, unique in the pod."),
  volumeSource: inline(2, VolumeSource),
});
export type Volume = TypeOf<typeof Volume>;
