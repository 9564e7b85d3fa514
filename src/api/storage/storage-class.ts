// Storage classes and volume attachments.
import { type TypeOf, bool, embedded, list, map, optional, pointer, required, string, time } from "#schema";
import { TopologySelectorTerm } from "../core/affinity.ts";
import { PersistentVolumeSpec } from "../core/persistent-volume.ts";
import { hiddenDefault, keepEmpty, openEnum, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { PersistentVolumeReclaimPolicy } from "../named-types.ts";
import { storage } from "../packages.ts";

const { message, kind, named } = storage;

export const StorageClass = kind("StorageClass", "A sort of storage that claims may ask for.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  provisioner: required(2, string, "Who makes the volumes."),
  parameters: optional(3, map(string), "Settings for whoever makes them.", keepEmpty),
  reclaimPolicy: pointer(
    4,
    PersistentVolumeReclaimPolicy,
    "What happens to a volume once its claim is gone: Delete or Retain.",
    {
      ...openEnum("Delete", "Recycle", "Retain"),
      ...hiddenDefault("Delete"),
    },
  ),
  mountOptions: optional(5, list(string), "Options for mounting the volumes."),
  allowVolumeExpansion: pointer(6, bool, "Whether volumes may grow."),
  volumeBindingMode: pointer(7, named("VolumeBindingMode", string), "Immediate, or WaitForFirstConsumer.", {
    ...openEnum("Immediate", "WaitForFirstConsumer"),
    ...hiddenDefault("Immediate"),
  }),
  allowedTopologies: optional(8, list(TopologySelectorTerm), "Where volumes may be made.", atomicList),
});
export type StorageClass = TypeOf<typeof StorageClass>;

export const VolumeAttachmentSource = message(
  "VolumeAttachmentSource",
  "The volume in question; one is set.",
  {
    persistentVolumeName: pointer(1, string, "Name of a persistent volume."),
    inlineVolumeSpec: optional(2, PersistentVolumeSpec, "The volume itself, for pods that name it directly."),
  },
);
export type VolumeAttachmentSource = TypeOf<typeof VolumeAttachmentSource>;

export const VolumeAttachmentSpec = message("VolumeAttachmentSpec", "What is attached where.", {
  attacher: required(1, string, "Who attaches it."),
  source: embedded(2, VolumeAttachmentSource, "The volume.", { published: "required" }),
  nodeName: required(3, string, "The node."),
});
export type VolumeAttachmentSpec = TypeOf<typeof VolumeAttachmentSpec>;

export const VolumeError = message("VolumeError", "An error while attaching or detaching.", {
  time: embedded(1, time, "When it happened."),
  message: optional(2, string, "What went wrong."),
});
export type VolumeError = TypeOf<typeof VolumeError>;

export const VolumeAttachmentStatus = message("VolumeAttachmentStatus", "How far attaching has come.", {
  attached: required(1, bool, "Whether it is attached."),
  attachmentMetadata: optional(2, map(string), "What the attacher wants known on mounting."),
  attachError: optional(3, VolumeError, "The last error while attaching."),
  detachError: optional(4, VolumeError, "The last error while detaching."),
});
export type VolumeAttachmentStatus = TypeOf<typeof VolumeAttachmentStatus>;

export const VolumeAttachment = kind("VolumeAttachment", "Asks for a volume to be attached to a node.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, VolumeAttachmentSpec, "What is attached where.", { published: "required" }),
  status: embedded(3, VolumeAttachmentStatus, "How far it has come."),
});
export type VolumeAttachment = TypeOf<typeof VolumeAttachment>;
