// Storage classes and volume attachments.
import { type TypeOf, bool, embedded, list, map, optional, pointer, required, string, time } from "#schema";
import { TopologySelectorTerm } from "../core/affinity.ts";
import { PersistentVolumeSpec } from "../core/persistent-volume.ts";
import { hiddenDefault, keepEmpty, openEnum, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { PersistentVolumeReclaimPolicy } from "../named-types.ts";
import { storage } from "../packages.ts";

const { message, kind, named } = storage;

export const StorageClass = kind(
  "StorageClass",
  "A class of storage from which volumes are provisioned dynamically.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    provisioner: required(2, string, "Name of the provisioner of the volumes."),
    parameters: optional(3, map(string), "Parameters passed to the provisioner.", keepEmpty),
    reclaimPolicy: pointer(
      4,
      PersistentVolumeReclaimPolicy,
      "Reclaim policy of the provisioned volumes: Delete (default) or Retain.",
      {
        ...openEnum("Delete", "Recycle", "Retain"),
        ...hiddenDefault("Delete"),
      },
    ),
    mountOptions: optional(5, list(string), "Mount options of the provisioned volumes."),
    allowVolumeExpansion: pointer(6, bool, "Whether volumes of the class can be expanded."),
    volumeBindingMode: pointer(
      7,
      named("VolumeBindingMode", string),
      "When volumes are provisioned and bound: Immediate (default) or WaitForFirstConsumer.",
      {
        ...openEnum("Immediate", "WaitForFirstConsumer"),
        ...hiddenDefault("Immediate"),
      },
    ),
    allowedTopologies: optional(
      8,
      list(TopologySelectorTerm),
      "Topologies in which volumes can be provisioned; unrestricted if empty.",
      atomicList,
    ),
  },
);
export type StorageClass = TypeOf<typeof StorageClass>;

export const VolumeAttachmentSource = message(
  "VolumeAttachmentSource",
  "Volume to attach; exactly one member is set.",
  {
    persistentVolumeName: pointer(1, string, "Name of the persistent volume to attach."),
    inlineVolumeSpec: optional(
      2,
      PersistentVolumeSpec,
      "Specification of an inline volume of a pod, translated to a persistent volume.",
    ),
  },
);
export type VolumeAttachmentSource = TypeOf<typeof VolumeAttachmentSource>;

export const VolumeAttachmentSpec = message("VolumeAttachmentSpec", "Specification of a volume attachment.", {
  attacher: required(1, string, "Name of the volume driver that handles the attachment."),
  source: embedded(2, VolumeAttachmentSource, "Volume to attach.", { published: "required" }),
  nodeName: required(3, string, "Name of the node to attach the volume to."),
});
export type VolumeAttachmentSpec = TypeOf<typeof VolumeAttachmentSpec>;

export const VolumeError = message("VolumeError", "An error of an attach or detach operation.", {
  time: embedded(1, time, "Time at which the error occurred."),
  message: optional(2, string, "Details of the error."),
});
export type VolumeError = TypeOf<typeof VolumeError>;

export const VolumeAttachmentStatus = message(
  "VolumeAttachmentStatus",
  "Current status of a volume attachment.",
  {
    attached: required(1, bool, "Whether the volume is attached."),
    attachmentMetadata: optional(
      2,
      map(string),
      "Information returned by the attach operation, passed to subsequent mount calls.",
    ),
    attachError: optional(3, VolumeError, "Last error of the attach operation, if any."),
    detachError: optional(4, VolumeError, "Last error of the detach operation, if any."),
  },
);
export type VolumeAttachmentStatus = TypeOf<typeof VolumeAttachmentStatus>;

export const VolumeAttachment = kind(
  "VolumeAttachment",
  "The intent to attach a volume to a node, or to detach it.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, VolumeAttachmentSpec, "Specification of the desired attachment.", {
      published: "required",
    }),
    status: embedded(
      3,
      VolumeAttachmentStatus,
      "Current status of the attachment, set by the entity that performs it.",
    ),
  },
);
export type VolumeAttachment = TypeOf<typeof VolumeAttachment>;
