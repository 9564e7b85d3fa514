// Volumes of specific storage systems.
import { type TypeOf, bool, int32, list, map, optional, pointer, required, string } from "#schema";
import { hiddenDefault, openEnum } from "../extras.ts";
import { core } from "../packages.ts";
import { LocalObjectReference, ObjectReference, SecretReference } from "./reference.ts";

const { message, named } = core;

export const GCEPersistentDiskVolumeSource = message(
  "GCEPersistentDiskVolumeSource",
  "A Google Compute Engine disk.",
  {
    pdName: required(1, string, "Unique name of the disk."),
    fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
    partition: optional(3, int32, "Partition to mount; 0 or unset mounts the whole disk."),
    readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
  },
);
export type GCEPersistentDiskVolumeSource = TypeOf<typeof GCEPersistentDiskVolumeSource>;

export const AWSElasticBlockStoreVolumeSource = message(
  "AWSElasticBlockStoreVolumeSource",
  "An Amazon EBS disk.",
  {
    volumeID: required(1, string, "Unique ID of the disk."),
    fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
    partition: optional(3, int32, "Partition to mount; 0 or unset mounts the whole disk."),
    readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
  },
);
export type AWSElasticBlockStoreVolumeSource = TypeOf<typeof AWSElasticBlockStoreVolumeSource>;

export const GitRepoVolumeSource = message(
  "GitRepoVolumeSource",
  "A directory initialized from a git repository; deprecated.",
  {
    repository: required(1, string, "URL of the repository."),
    revision: optional(2, string, "Commit hash of the revision to check out."),
    directory: optional(3, string, "Target directory of the clone; . clones into the root of the volume."),
  },
);
export type GitRepoVolumeSource = TypeOf<typeof GitRepoVolumeSource>;

export const NFSVolumeSource = message("NFSVolumeSource", "A directory exported by an NFS server.", {
  server: required(1, string, "Host name or address of the server."),
  path: required(2, string, "Path exported by the server."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
});
export type NFSVolumeSource = TypeOf<typeof NFSVolumeSource>;

export const ISCSIVolumeSource = message("ISCSIVolumeSource", "An iSCSI disk.", {
  targetPortal: required(
    1,
    string,
    "IP address or host name of the target portal, with the port if it is not 3260.",
  ),
  iqn: required(2, string, "Qualified name (IQN) of the target."),
  lun: required(3, int32, "Logical unit number (LUN)."),
  iscsiInterface: optional(
    4,
    string,
    "Name of the interface that uses the transport; defaults to default (tcp).",
    hiddenDefault("default"),
  ),
  fsType: optional(5, string, "Type of the file system on the volume; ext4 if empty."),
  readOnly: optional(6, bool, "Whether the volume is mounted read-only."),
  portals: optional(7, list(string), "Further portals of the target."),
  chapAuthDiscovery: optional(8, bool, "Whether discovery uses CHAP authentication."),
  chapAuthSession: optional(11, bool, "Whether sessions use CHAP authentication."),
  secretRef: optional(10, LocalObjectReference, "Secret with the CHAP credentials of target and initiator."),
  initiatorName: pointer(12, string, "Custom IQN of the initiator."),
});
export type ISCSIVolumeSource = TypeOf<typeof ISCSIVolumeSource>;

export const ISCSIPersistentVolumeSource = message(
  "ISCSIPersistentVolumeSource",
  "An iSCSI disk that backs a persistent volume.",
  {
    targetPortal: required(
      1,
      string,
      "IP address or host name of the target portal, with the port if it is not 3260.",
    ),
    iqn: required(2, string, "Qualified name (IQN) of the target."),
    lun: required(3, int32, "Logical unit number (LUN)."),
    iscsiInterface: optional(
      4,
      string,
      "Name of the interface that uses the transport; defaults to default (tcp).",
      hiddenDefault("default"),
    ),
    fsType: optional(5, string, "Type of the file system on the volume; ext4 if empty."),
    readOnly: optional(6, bool, "Whether the volume is mounted read-only."),
    portals: optional(7, list(string), "Further portals of the target."),
    chapAuthDiscovery: optional(8, bool, "Whether discovery uses CHAP authentication."),
    chapAuthSession: optional(11, bool, "Whether sessions use CHAP authentication."),
    secretRef: optional(10, SecretReference, "Secret with the CHAP credentials of target and initiator."),
    initiatorName: pointer(12, string, "Custom IQN of the initiator."),
  },
);
export type ISCSIPersistentVolumeSource = TypeOf<typeof ISCSIPersistentVolumeSource>;

export const GlusterfsVolumeSource = message("GlusterfsVolumeSource", "A Glusterfs volume.", {
  endpoints: required(1, string, "Name of the endpoints object that lists the Glusterfs servers."),
  path: required(2, string, "Name or path of the Glusterfs volume."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
});
export type GlusterfsVolumeSource = TypeOf<typeof GlusterfsVolumeSource>;

export const GlusterfsPersistentVolumeSource = message(
  "GlusterfsPersistentVolumeSource",
  "A Glusterfs volume that backs a persistent volume.",
  {
    endpoints: required(1, string, "Name of the endpoints object that lists the Glusterfs servers."),
    path: required(2, string, "Name or path of the Glusterfs volume."),
    readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
    endpointsNamespace: pointer(
      4,
      string,
      "Namespace of the endpoints object; defaults to that of the bound claim.",
    ),
  },
);
export type GlusterfsPersistentVolumeSource = TypeOf<typeof GlusterfsPersistentVolumeSource>;

export const RBDVolumeSource = message("RBDVolumeSource", "A Ceph block device.", {
  monitors: required(1, list(string), "Addresses of the Ceph monitors."),
  image: required(2, string, "Name of the RADOS image."),
  fsType: optional(3, string, "Type of the file system on the volume; ext4 if empty."),
  pool: optional(4, string, "Name of the RADOS pool; defaults to rbd.", hiddenDefault("rbd")),
  user: optional(5, string, "Name of the RADOS user; defaults to admin.", hiddenDefault("admin")),
  keyring: optional(
    6,
    string,
    "Path of the user's key ring; defaults to /etc/ceph/keyring.",
    hiddenDefault("/etc/ceph/keyring"),
  ),
  secretRef: optional(
    7,
    LocalObjectReference,
    "Secret with the user's key; takes precedence over the key file.",
  ),
  readOnly: optional(8, bool, "Whether the volume is mounted read-only."),
});
export type RBDVolumeSource = TypeOf<typeof RBDVolumeSource>;

export const RBDPersistentVolumeSource = message(
  "RBDPersistentVolumeSource",
  "A Ceph block device that backs a persistent volume.",
  {
    monitors: required(1, list(string), "Addresses of the Ceph monitors."),
    image: required(2, string, "Name of the RADOS image."),
    fsType: optional(3, string, "Type of the file system on the volume; ext4 if empty."),
    pool: optional(4, string, "Name of the RADOS pool; defaults to rbd.", hiddenDefault("rbd")),
    user: optional(5, string, "Name of the RADOS user; defaults to admin.", hiddenDefault("admin")),
    keyring: optional(
      6,
      string,
      "Path of the user's key ring; defaults to /etc/ceph/keyring.",
      hiddenDefault("/etc/ceph/keyring"),
    ),
    secretRef: optional(
      7,
      SecretReference,
      "Secret with the user's key; takes precedence over the key file.",
    ),
    readOnly: optional(8, bool, "Whether the volume is mounted read-only."),
  },
);
export type RBDPersistentVolumeSource = TypeOf<typeof RBDPersistentVolumeSource>;

export const FlexVolumeSource = message(
  "FlexVolumeSource",
  "A volume provided by a FlexVolume driver installed on the node.",
  {
    driver: required(1, string, "Name of the FlexVolume driver."),
    fsType: optional(2, string, "Type of the file system on the volume; chosen by the driver if empty."),
    secretRef: optional(3, LocalObjectReference, "Secret with sensitive data passed to the driver."),
    readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
    options: optional(5, map(string), "Additional options for the driver."),
  },
);
export type FlexVolumeSource = TypeOf<typeof FlexVolumeSource>;

export const FlexPersistentVolumeSource = message(
  "FlexPersistentVolumeSource",
  "A FlexVolume that backs a persistent volume.",
  {
    driver: required(1, string, "Name of the FlexVolume driver."),
    fsType: optional(2, string, "Type of the file system on the volume; chosen by the driver if empty."),
    secretRef: optional(3, SecretReference, "Secret with sensitive data passed to the driver."),
    readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
    options: optional(5, map(string), "Additional options for the driver."),
  },
);
export type FlexPersistentVolumeSource = TypeOf<typeof FlexPersistentVolumeSource>;

export const CinderVolumeSource = message("CinderVolumeSource", "An OpenStack Cinder disk.", {
  volumeID: required(1, string, "Unique ID of the disk."),
  fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
  secretRef: optional(4, LocalObjectReference, "Secret with the parameters for connecting to OpenStack."),
});
export type CinderVolumeSource = TypeOf<typeof CinderVolumeSource>;

export const CinderPersistentVolumeSource = message(
  "CinderPersistentVolumeSource",
  "An OpenStack Cinder disk that backs a persistent volume.",
  {
    volumeID: required(1, string, "Unique ID of the disk."),
    fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
    readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
    secretRef: optional(4, SecretReference, "Secret with the parameters for connecting to OpenStack."),
  },
);
export type CinderPersistentVolumeSource = TypeOf<typeof CinderPersistentVolumeSource>;

export const CephFSVolumeSource = message("CephFSVolumeSource", "A Ceph file system.", {
  monitors: required(1, list(string), "Addresses of the Ceph monitors."),
  path: optional(2, string, "Directory to mount; defaults to /."),
  user: optional(3, string, "Name of the RADOS user; defaults to admin."),
  secretFile: optional(4, string, "Path of the user's key ring; defaults to /etc/ceph/user.secret."),
  secretRef: optional(
    5,
    LocalObjectReference,
    "Secret with the user's key; takes precedence over the key file.",
  ),
  readOnly: optional(6, bool, "Whether the volume is mounted read-only."),
});
export type CephFSVolumeSource = TypeOf<typeof CephFSVolumeSource>;

export const CephFSPersistentVolumeSource = message(
  "CephFSPersistentVolumeSource",
  "A Ceph file system that backs a persistent volume.",
  {
    monitors: required(1, list(string), "Addresses of the Ceph monitors."),
    path: optional(2, string, "Directory to mount; defaults to /."),
    user: optional(3, string, "Name of the RADOS user; defaults to admin."),
    secretFile: optional(4, string, "Path of the user's key ring; defaults to /etc/ceph/user.secret."),
    secretRef: optional(
      5,
      SecretReference,
      "Secret with the user's key; takes precedence over the key file.",
    ),
    readOnly: optional(6, bool, "Whether the volume is mounted read-only."),
  },
);
export type CephFSPersistentVolumeSource = TypeOf<typeof CephFSPersistentVolumeSource>;

export const FlockerVolumeSource = message("FlockerVolumeSource", "A Flocker dataset.", {
  datasetName: optional(1, string, "Name of the dataset; deprecated in favor of datasetUUID."),
  datasetUUID: optional(2, string, "UUID of the dataset."),
});
export type FlockerVolumeSource = TypeOf<typeof FlockerVolumeSource>;

export const FCVolumeSource = message("FCVolumeSource", "A Fibre Channel disk.", {
  targetWWNs: optional(1, list(string), "World-wide names (WWNs) of the target."),
  lun: pointer(2, int32, "Logical unit number (LUN)."),
  fsType: optional(3, string, "Type of the file system on the volume; ext4 if empty."),
  readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
  wwids: optional(
    5,
    list(string),
    "World-wide identifiers (WWIDs) of the disk; set either these or targetWWNs and lun.",
  ),
});
export type FCVolumeSource = TypeOf<typeof FCVolumeSource>;

export const AzureFileVolumeSource = message("AzureFileVolumeSource", "An Azure file share.", {
  secretName: required(1, string, "Name of the secret with the storage account name and key."),
  shareName: required(2, string, "Name of the share."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
});
export type AzureFileVolumeSource = TypeOf<typeof AzureFileVolumeSource>;

export const AzureFilePersistentVolumeSource = message(
  "AzureFilePersistentVolumeSource",
  "An Azure file share that backs a persistent volume.",
  {
    secretName: required(1, string, "Name of the secret with the storage account name and key."),
    shareName: required(2, string, "Name of the share."),
    readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
    secretNamespace: required(4, string, "Namespace of the secret; defaults to that of the pod.", {
      nullable: true,
      published: "optional",
    }),
  },
);
export type AzureFilePersistentVolumeSource = TypeOf<typeof AzureFilePersistentVolumeSource>;

export const VsphereVirtualDiskVolumeSource = message("VsphereVirtualDiskVolumeSource", "A vSphere disk.", {
  volumePath: required(1, string, "Path of the virtual disk file."),
  fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
  storagePolicyName: optional(3, string, "Name of the storage policy (SPBM profile)."),
  storagePolicyID: optional(4, string, "ID of the storage policy (SPBM profile)."),
});
export type VsphereVirtualDiskVolumeSource = TypeOf<typeof VsphereVirtualDiskVolumeSource>;

export const QuobyteVolumeSource = message("QuobyteVolumeSource", "A Quobyte volume.", {
  registry: required(
    1,
    string,
    "Addresses of the Quobyte registries, as comma-separated pairs of host:port.",
  ),
  volume: required(2, string, "Name of the volume."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
  user: optional(4, string, "User to mount the volume as; defaults to the service account user."),
  group: optional(5, string, "Group to mount the volume as; defaults to no group."),
  tenant: optional(6, string, "Quobyte tenant that owns the volume."),
});
export type QuobyteVolumeSource = TypeOf<typeof QuobyteVolumeSource>;

export const AzureDiskVolumeSource = message("AzureDiskVolumeSource", "An Azure data disk.", {
  diskName: required(1, string, "Name of the data disk in the blob storage."),
  diskURI: required(2, string, "URI of the data disk in the blob storage."),
  cachingMode: pointer(
    3,
    named("AzureDataDiskCachingMode", string),
    "Host caching mode: None, ReadOnly or ReadWrite.",
    {
      ...openEnum("None", "ReadOnly", "ReadWrite"),
      ...hiddenDefault("ReadWrite"),
    },
  ),
  fsType: pointer(
    4,
    string,
    "Type of the file system on the volume; defaults to ext4.",
    hiddenDefault("ext4"),
  ),
  readOnly: pointer(5, bool, "Whether the volume is mounted read-only.", hiddenDefault(false)),
  kind: pointer(6, named("AzureDataDiskKind", string), "Kind of disk: Shared, Dedicated or Managed.", {
    ...openEnum("Dedicated", "Managed", "Shared"),
    ...hiddenDefault("Shared"),
  }),
});
export type AzureDiskVolumeSource = TypeOf<typeof AzureDiskVolumeSource>;

export const PhotonPersistentDiskVolumeSource = message(
  "PhotonPersistentDiskVolumeSource",
  "A Photon Controller persistent disk.",
  {
    pdID: required(1, string, "ID of the Photon Controller persistent disk."),
    fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
  },
);
export type PhotonPersistentDiskVolumeSource = TypeOf<typeof PhotonPersistentDiskVolumeSource>;

export const PortworxVolumeSource = message("PortworxVolumeSource", "A Portworx volume.", {
  volumeID: required(1, string, "Unique ID of the Portworx volume."),
  fsType: optional(2, string, "Type of the file system on the volume; ext4 if empty."),
  readOnly: optional(3, bool, "Whether the volume is mounted read-only."),
});
export type PortworxVolumeSource = TypeOf<typeof PortworxVolumeSource>;

export const ScaleIOVolumeSource = message("ScaleIOVolumeSource", "A ScaleIO volume.", {
  gateway: required(1, string, "Address of the ScaleIO API gateway."),
  system: required(2, string, "Name of the storage system."),
  secretRef: required(3, LocalObjectReference, "Secret with the credentials for logging in.", {
    nullable: true,
  }),
  sslEnabled: optional(4, bool, "Whether to use TLS for the connection to the gateway."),
  protectionDomain: optional(5, string, "Name of the protection domain."),
  storagePool: optional(6, string, "Name of the storage pool in the protection domain."),
  storageMode: optional(
    7,
    string,
    "Provisioning mode: ThickProvisioned or ThinProvisioned (default).",
    hiddenDefault("ThinProvisioned"),
  ),
  volumeName: optional(8, string, "Name of the volume."),
  fsType: optional(
    9,
    string,
    "Type of the file system on the volume; defaults to xfs.",
    hiddenDefault("xfs"),
  ),
  readOnly: optional(10, bool, "Whether the volume is mounted read-only."),
});
export type ScaleIOVolumeSource = TypeOf<typeof ScaleIOVolumeSource>;

export const ScaleIOPersistentVolumeSource = message(
  "ScaleIOPersistentVolumeSource",
  "A ScaleIO volume that backs a persistent volume.",
  {
    gateway: required(1, string, "Address of the ScaleIO API gateway."),
    system: required(2, string, "Name of the storage system."),
    secretRef: required(3, SecretReference, "Secret with the credentials for logging in.", {
      nullable: true,
    }),
    sslEnabled: optional(4, bool, "Whether to use TLS for the connection to the gateway."),
    protectionDomain: optional(5, string, "Name of the protection domain."),
    storagePool: optional(6, string, "Name of the storage pool in the protection domain."),
    storageMode: optional(
      7,
      string,
      "Provisioning mode: ThickProvisioned or ThinProvisioned (default).",
      hiddenDefault("ThinProvisioned"),
    ),
    volumeName: optional(8, string, "Name of the volume."),
    fsType: optional(
      9,
      string,
      "Type of the file system on the volume; defaults to xfs.",
      hiddenDefault("xfs"),
    ),
    readOnly: optional(10, bool, "Whether the volume is mounted read-only."),
  },
);
export type ScaleIOPersistentVolumeSource = TypeOf<typeof ScaleIOPersistentVolumeSource>;

export const StorageOSVolumeSource = message("StorageOSVolumeSource", "A StorageOS volume.", {
  volumeName: optional(1, string, "Name of the volume."),
  volumeNamespace: optional(
    2,
    string,
    "Scope of the volume within StorageOS; defaults to the pod's namespace.",
  ),
  fsType: optional(3, string, "Type of the file system on the volume; ext4 if empty."),
  readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
  secretRef: optional(5, LocalObjectReference, "Secret with the credentials for logging in."),
});
export type StorageOSVolumeSource = TypeOf<typeof StorageOSVolumeSource>;

export const StorageOSPersistentVolumeSource = message(
  "StorageOSPersistentVolumeSource",
  "A StorageOS volume that backs a persistent volume.",
  {
    volumeName: optional(1, string, "Name of the volume."),
    volumeNamespace: optional(
      2,
      string,
      "Scope of the volume within StorageOS; defaults to the pod's namespace.",
    ),
    fsType: optional(3, string, "Type of the file system on the volume; ext4 if empty."),
    readOnly: optional(4, bool, "Whether the volume is mounted read-only."),
    secretRef: optional(5, ObjectReference, "Secret with the credentials for logging in."),
  },
);
export type StorageOSPersistentVolumeSource = TypeOf<typeof StorageOSPersistentVolumeSource>;
