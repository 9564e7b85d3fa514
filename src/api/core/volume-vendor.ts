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
    pdName: required(1, string, "Name of the disk."),
    fsType: optional(2, string, "File system on it; ext4 when empty."),
    partition: optional(3, int32, "Partition to mount; 0 or unset for the whole disk."),
    readOnly: optional(4, bool, "Whether it is mounted read-only."),
  },
);
export type GCEPersistentDiskVolumeSource = TypeOf<typeof GCEPersistentDiskVolumeSource>;

export const AWSElasticBlockStoreVolumeSource = message(
  "AWSElasticBlockStoreVolumeSource",
  "An Amazon EBS disk.",
  {
    volumeID: required(1, string, "Identity of the disk."),
    fsType: optional(2, string, "File system on it; ext4 when empty."),
    partition: optional(3, int32, "Partition to mount; 0 or unset for the whole disk."),
    readOnly: optional(4, bool, "Whether it is mounted read-only."),
  },
);
export type AWSElasticBlockStoreVolumeSource = TypeOf<typeof AWSElasticBlockStoreVolumeSource>;

export const GitRepoVolumeSource = message(
  "GitRepoVolumeSource",
  "A directory filled from a git repository; deprecated.",
  {
    repository: required(1, string, "Address of the repository."),
    revision: optional(2, string, "Commit to take."),
    directory: optional(3, string, "Directory to clone into; . for the volume's root."),
  },
);
export type GitRepoVolumeSource = TypeOf<typeof GitRepoVolumeSource>;

export const NFSVolumeSource = message("NFSVolumeSource", "A directory of an NFS server.", {
  server: required(1, string, "Host name or address of the server."),
  path: required(2, string, "Directory it exports."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
});
export type NFSVolumeSource = TypeOf<typeof NFSVolumeSource>;

export const ISCSIVolumeSource = message("ISCSIVolumeSource", "An iSCSI disk.", {
  targetPortal: required(1, string, "Address of the target, with port unless 3260."),
  iqn: required(2, string, "Qualified name of the target."),
  lun: required(3, int32, "Number of the unit."),
  iscsiInterface: optional(4, string, "Interface that carries the session.", hiddenDefault("default")),
  fsType: optional(5, string, "File system on it; ext4 when empty."),
  readOnly: optional(6, bool, "Whether it is mounted read-only."),
  portals: optional(7, list(string), "Further addresses of the target."),
  chapAuthDiscovery: optional(8, bool, "Whether discovery authenticates by CHAP."),
  chapAuthSession: optional(11, bool, "Whether sessions authenticate by CHAP."),
  secretRef: optional(10, LocalObjectReference, "Secret for CHAP."),
  initiatorName: pointer(12, string, "Name to present as the initiator."),
});
export type ISCSIVolumeSource = TypeOf<typeof ISCSIVolumeSource>;

export const ISCSIPersistentVolumeSource = message(
  "ISCSIPersistentVolumeSource",
  "An iSCSI disk, for a persistent volume.",
  {
    targetPortal: required(1, string, "Address of the target, with port unless 3260."),
    iqn: required(2, string, "Qualified name of the target."),
    lun: required(3, int32, "Number of the unit."),
    iscsiInterface: optional(4, string, "Interface that carries the session.", hiddenDefault("default")),
    fsType: optional(5, string, "File system on it; ext4 when empty."),
    readOnly: optional(6, bool, "Whether it is mounted read-only."),
    portals: optional(7, list(string), "Further addresses of the target."),
    chapAuthDiscovery: optional(8, bool, "Whether discovery authenticates by CHAP."),
    chapAuthSession: optional(11, bool, "Whether sessions authenticate by CHAP."),
    secretRef: optional(10, SecretReference, "Secret for CHAP."),
    initiatorName: pointer(12, string, "Name to present as the initiator."),
  },
);
export type ISCSIPersistentVolumeSource = TypeOf<typeof ISCSIPersistentVolumeSource>;

export const GlusterfsVolumeSource = message("GlusterfsVolumeSource", "A Glusterfs volume.", {
  endpoints: required(1, string, "Name of the endpoints that list its servers."),
  path: required(2, string, "Name of the volume."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
});
export type GlusterfsVolumeSource = TypeOf<typeof GlusterfsVolumeSource>;

export const GlusterfsPersistentVolumeSource = message(
  "GlusterfsPersistentVolumeSource",
  "A Glusterfs volume, for a persistent volume.",
  {
    endpoints: required(1, string, "Name of the endpoints that list its servers."),
    path: required(2, string, "Name of the volume."),
    readOnly: optional(3, bool, "Whether it is mounted read-only."),
    endpointsNamespace: pointer(4, string, "Namespace of the endpoints; the claim's own when unset."),
  },
);
export type GlusterfsPersistentVolumeSource = TypeOf<typeof GlusterfsPersistentVolumeSource>;

export const RBDVolumeSource = message("RBDVolumeSource", "A Ceph block device.", {
  monitors: required(1, list(string), "Addresses of the monitors."),
  image: required(2, string, "Name of the image."),
  fsType: optional(3, string, "File system on it; ext4 when empty."),
  pool: optional(4, string, "Pool the image is in.", hiddenDefault("rbd")),
  user: optional(5, string, "User to authenticate as.", hiddenDefault("admin")),
  keyring: optional(6, string, "File with the user's key.", hiddenDefault("/etc/ceph/keyring")),
  secretRef: optional(7, LocalObjectReference, "Secret with the key, in place of the file."),
  readOnly: optional(8, bool, "Whether it is mounted read-only."),
});
export type RBDVolumeSource = TypeOf<typeof RBDVolumeSource>;

export const RBDPersistentVolumeSource = message(
  "RBDPersistentVolumeSource",
  "A Ceph block device, for a persistent volume.",
  {
    monitors: required(1, list(string), "Addresses of the monitors."),
    image: required(2, string, "Name of the image."),
    fsType: optional(3, string, "File system on it; ext4 when empty."),
    pool: optional(4, string, "Pool the image is in.", hiddenDefault("rbd")),
    user: optional(5, string, "User to authenticate as.", hiddenDefault("admin")),
    keyring: optional(6, string, "File with the user's key.", hiddenDefault("/etc/ceph/keyring")),
    secretRef: optional(7, SecretReference, "Secret with the key, in place of the file."),
    readOnly: optional(8, bool, "Whether it is mounted read-only."),
  },
);
export type RBDPersistentVolumeSource = TypeOf<typeof RBDPersistentVolumeSource>;

export const FlexVolumeSource = message("FlexVolumeSource", "A volume that a program on the node attaches.", {
  driver: required(1, string, "Name of the program's driver."),
  fsType: optional(2, string, "File system on it; the driver's choice when empty."),
  secretRef: optional(3, LocalObjectReference, "Secret handed to the driver."),
  readOnly: optional(4, bool, "Whether it is mounted read-only."),
  options: optional(5, map(string), "Further settings for the driver."),
});
export type FlexVolumeSource = TypeOf<typeof FlexVolumeSource>;

export const FlexPersistentVolumeSource = message(
  "FlexPersistentVolumeSource",
  "A volume that a program on the node attaches, for a persistent volume.",
  {
    driver: required(1, string, "Name of the program's driver."),
    fsType: optional(2, string, "File system on it; the driver's choice when empty."),
    secretRef: optional(3, SecretReference, "Secret handed to the driver."),
    readOnly: optional(4, bool, "Whether it is mounted read-only."),
    options: optional(5, map(string), "Further settings for the driver."),
  },
);
export type FlexPersistentVolumeSource = TypeOf<typeof FlexPersistentVolumeSource>;

export const CinderVolumeSource = message("CinderVolumeSource", "An OpenStack Cinder disk.", {
  volumeID: required(1, string, "Identity of the disk."),
  fsType: optional(2, string, "File system on it; ext4 when empty."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
  secretRef: optional(4, LocalObjectReference, "Secret for connecting to OpenStack."),
});
export type CinderVolumeSource = TypeOf<typeof CinderVolumeSource>;

export const CinderPersistentVolumeSource = message(
  "CinderPersistentVolumeSource",
  "An OpenStack Cinder disk, for a persistent volume.",
  {
    volumeID: required(1, string, "Identity of the disk."),
    fsType: optional(2, string, "File system on it; ext4 when empty."),
    readOnly: optional(3, bool, "Whether it is mounted read-only."),
    secretRef: optional(4, SecretReference, "Secret for connecting to OpenStack."),
  },
);
export type CinderPersistentVolumeSource = TypeOf<typeof CinderPersistentVolumeSource>;

export const CephFSVolumeSource = message("CephFSVolumeSource", "A Ceph file system.", {
  monitors: required(1, list(string), "Addresses of the monitors."),
  path: optional(2, string, "Directory to mount; / when empty."),
  user: optional(3, string, "User to authenticate as; admin when empty."),
  secretFile: optional(4, string, "File with the user's key."),
  secretRef: optional(5, LocalObjectReference, "Secret with the key, in place of the file."),
  readOnly: optional(6, bool, "Whether it is mounted read-only."),
});
export type CephFSVolumeSource = TypeOf<typeof CephFSVolumeSource>;

export const CephFSPersistentVolumeSource = message(
  "CephFSPersistentVolumeSource",
  "A Ceph file system, for a persistent volume.",
  {
    monitors: required(1, list(string), "Addresses of the monitors."),
    path: optional(2, string, "Directory to mount; / when empty."),
    user: optional(3, string, "User to authenticate as; admin when empty."),
    secretFile: optional(4, string, "File with the user's key."),
    secretRef: optional(5, SecretReference, "Secret with the key, in place of the file."),
    readOnly: optional(6, bool, "Whether it is mounted read-only."),
  },
);
export type CephFSPersistentVolumeSource = TypeOf<typeof CephFSPersistentVolumeSource>;

export const FlockerVolumeSource = message("FlockerVolumeSource", "A Flocker dataset.", {
  datasetName: optional(1, string, "Name of the dataset; prefer datasetUUID."),
  datasetUUID: optional(2, string, "Identity of the dataset."),
});
export type FlockerVolumeSource = TypeOf<typeof FlockerVolumeSource>;

export const FCVolumeSource = message("FCVolumeSource", "A Fibre Channel disk.", {
  targetWWNs: optional(1, list(string), "World-wide names of the target."),
  lun: pointer(2, int32, "Number of the unit."),
  fsType: optional(3, string, "File system on it; ext4 when empty."),
  readOnly: optional(4, bool, "Whether it is mounted read-only."),
  wwids: optional(5, list(string), "World-wide identities of the disk; set either these or names and unit."),
});
export type FCVolumeSource = TypeOf<typeof FCVolumeSource>;

export const AzureFileVolumeSource = message("AzureFileVolumeSource", "An Azure file share.", {
  secretName: required(1, string, "Secret with account name and key."),
  shareName: required(2, string, "Name of the share."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
});
export type AzureFileVolumeSource = TypeOf<typeof AzureFileVolumeSource>;

export const AzureFilePersistentVolumeSource = message(
  "AzureFilePersistentVolumeSource",
  "An Azure file share, for a persistent volume.",
  {
    secretName: required(1, string, "Secret with account name and key."),
    shareName: required(2, string, "Name of the share."),
    readOnly: optional(3, bool, "Whether it is mounted read-only."),
    secretNamespace: required(4, string, "Namespace of the secret; the pod's own when unset.", {
      nullable: true,
      published: "optional",
    }),
  },
);
export type AzureFilePersistentVolumeSource = TypeOf<typeof AzureFilePersistentVolumeSource>;

export const VsphereVirtualDiskVolumeSource = message("VsphereVirtualDiskVolumeSource", "A vSphere disk.", {
  volumePath: required(1, string, "Path of the disk file."),
  fsType: optional(2, string, "File system on it; ext4 when empty."),
  storagePolicyName: optional(3, string, "Name of its storage policy."),
  storagePolicyID: optional(4, string, "Identity of its storage policy."),
});
export type VsphereVirtualDiskVolumeSource = TypeOf<typeof VsphereVirtualDiskVolumeSource>;

export const QuobyteVolumeSource = message("QuobyteVolumeSource", "A Quobyte volume.", {
  registry: required(1, string, "Addresses of the registries, host:port, separated by commas."),
  volume: required(2, string, "Name of the volume."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
  user: optional(4, string, "User to mount as; the service's own when empty."),
  group: optional(5, string, "Group to mount as; none when empty."),
  tenant: optional(6, string, "Tenant that owns the volume."),
});
export type QuobyteVolumeSource = TypeOf<typeof QuobyteVolumeSource>;

export const AzureDiskVolumeSource = message("AzureDiskVolumeSource", "An Azure data disk.", {
  diskName: required(1, string, "Name of the disk."),
  diskURI: required(2, string, "Address of the disk."),
  cachingMode: pointer(
    3,
    named("AzureDataDiskCachingMode", string),
    "Host caching: None, ReadOnly or ReadWrite.",
    {
      ...openEnum("None", "ReadOnly", "ReadWrite"),
      ...hiddenDefault("ReadWrite"),
    },
  ),
  fsType: pointer(4, string, "File system on it.", hiddenDefault("ext4")),
  readOnly: pointer(5, bool, "Whether it is mounted read-only.", hiddenDefault(false)),
  kind: pointer(6, named("AzureDataDiskKind", string), "Kind of disk: Shared, Dedicated or Managed.", {
    ...openEnum("Dedicated", "Managed", "Shared"),
    ...hiddenDefault("Shared"),
  }),
});
export type AzureDiskVolumeSource = TypeOf<typeof AzureDiskVolumeSource>;

export const PhotonPersistentDiskVolumeSource = message(
  "PhotonPersistentDiskVolumeSource",
  "A Photon controller disk.",
  {
    pdID: required(1, string, "Identity of the disk."),
    fsType: optional(2, string, "File system on it; ext4 when empty."),
  },
);
export type PhotonPersistentDiskVolumeSource = TypeOf<typeof PhotonPersistentDiskVolumeSource>;

export const PortworxVolumeSource = message("PortworxVolumeSource", "A Portworx volume.", {
  volumeID: required(1, string, "Identity of the volume."),
  fsType: optional(2, string, "File system on it; ext4 when empty."),
  readOnly: optional(3, bool, "Whether it is mounted read-only."),
});
export type PortworxVolumeSource = TypeOf<typeof PortworxVolumeSource>;

export const ScaleIOVolumeSource = message("ScaleIOVolumeSource", "A ScaleIO volume.", {
  gateway: required(1, string, "Address of the gateway."),
  system: required(2, string, "Name of the storage system."),
  secretRef: required(3, LocalObjectReference, "Secret with the login.", { nullable: true }),
  sslEnabled: optional(4, bool, "Whether to speak TLS with the gateway."),
  protectionDomain: optional(5, string, "Name of the protection domain."),
  storagePool: optional(6, string, "Name of the pool in the domain."),
  storageMode: optional(7, string, "ThickProvisioned or ThinProvisioned.", hiddenDefault("ThinProvisioned")),
  volumeName: optional(8, string, "Name of the volume."),
  fsType: optional(9, string, "File system on it.", hiddenDefault("xfs")),
  readOnly: optional(10, bool, "Whether it is mounted read-only."),
});
export type ScaleIOVolumeSource = TypeOf<typeof ScaleIOVolumeSource>;

export const ScaleIOPersistentVolumeSource = message(
  "ScaleIOPersistentVolumeSource",
  "A ScaleIO volume, for a persistent volume.",
  {
    gateway: required(1, string, "Address of the gateway."),
    system: required(2, string, "Name of the storage system."),
    secretRef: required(3, SecretReference, "Secret with the login.", { nullable: true }),
    sslEnabled: optional(4, bool, "Whether to speak TLS with the gateway."),
    protectionDomain: optional(5, string, "Name of the protection domain."),
    storagePool: optional(6, string, "Name of the pool in the domain."),
    storageMode: optional(
      7,
      string,
      "ThickProvisioned or ThinProvisioned.",
      hiddenDefault("ThinProvisioned"),
    ),
    volumeName: optional(8, string, "Name of the volume."),
    fsType: optional(9, string, "File system on it.", hiddenDefault("xfs")),
    readOnly: optional(10, bool, "Whether it is mounted read-only."),
  },
);
export type ScaleIOPersistentVolumeSource = TypeOf<typeof ScaleIOPersistentVolumeSource>;

export const StorageOSVolumeSource = message("StorageOSVolumeSource", "A StorageOS volume.", {
  volumeName: optional(1, string, "Name of the volume."),
  volumeNamespace: optional(2, string, "Its scope within StorageOS; the pod's namespace when empty."),
  fsType: optional(3, string, "File system on it; ext4 when empty."),
  readOnly: optional(4, bool, "Whether it is mounted read-only."),
  secretRef: optional(5, LocalObjectReference, "Secret with the login."),
});
export type StorageOSVolumeSource = TypeOf<typeof StorageOSVolumeSource>;

export const StorageOSPersistentVolumeSource = message(
  "StorageOSPersistentVolumeSource",
  "A StorageOS volume, for a persistent volume.",
  {
    volumeName: optional(1, string, "Name of the volume."),
    volumeNamespace: optional(2, string, "Its scope within StorageOS; the pod's namespace when empty."),
    fsType: optional(3, string, "File system on it; ext4 when empty."),
    readOnly: optional(4, bool, "Whether it is mounted read-only."),
    secretRef: optional(5, ObjectReference, "Secret with the login."),
  },
);
export type StorageOSPersistentVolumeSource = TypeOf<typeof StorageOSPersistentVolumeSource>;
