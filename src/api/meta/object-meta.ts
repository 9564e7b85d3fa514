// Metadata of objects and lists.
import {
  type TypeOf,
  bool,
  embedded,
  fieldsV1,
  int64,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { keepEmpty, patchMerge } from "../extras.ts";
import { UID } from "../named-types.ts";
import { meta } from "../packages.ts";

const { message, named } = meta;

export const OwnerReference = message(
  "OwnerReference",
  "Points at an object that this one depends on and is collected with.",
  {
    apiVersion: required(5, string, "Group and version of the owner."),
    kind: required(1, string, "Kind of the owner."),
    name: required(3, string, "Name of the owner."),
    uid: required(4, UID, "Identity of the owner; a namesake does not count."),
    controller: pointer(6, bool, "Whether the owner is the one managing controller."),
    blockOwnerDeletion: pointer(
      7,
      bool,
      "Holds a foreground deletion of the owner until this object is gone.",
    ),
  },
  { atomic: true },
);
export type OwnerReference = TypeOf<typeof OwnerReference>;

export const ManagedFieldsEntry = message(
  "ManagedFieldsEntry",
  "The fields that one manager set through one kind of write.",
  {
    manager: optional(1, string, "Name of the writer."),
    operation: optional(
      2,
      named("ManagedFieldsOperationType", string),
      "How the fields were written: Apply or Update.",
    ),
    apiVersion: optional(3, string, "Version of the object the field set is expressed in."),
    time: pointer(4, time, "When the set last changed."),
    fieldsType: optional(6, string, "Format of the set; only FieldsV1 exists."),
    fieldsV1: pointer(7, fieldsV1, "The fields themselves."),
    subresource: optional(
      8,
      string,
      "Through which subresource they were written; empty for the object itself.",
    ),
  },
);
export type ManagedFieldsEntry = TypeOf<typeof ManagedFieldsEntry>;

export const ObjectMeta = message("ObjectMeta", "Identity, labels and life-cycle marks of an object.", {
  name: optional(1, string, "Unique within the namespace among objects of the kind; never changes."),
  generateName: optional(2, string, "Prefix for a name that the server makes when none is given."),
  namespace: optional(3, string, "The namespace the object lives in; empty for cluster-wide kinds."),
  selfLink: optional(4, string, "No longer filled in; kept for old clients."),
  uid: optional(5, UID, "Unique in space and time; set by the server."),
  resourceVersion: optional(
    6,
    string,
    "Opaque version of the stored object, for comparing and for watching.",
  ),
  generation: optional(7, int64, "Counts changes of the desired state."),
  creationTimestamp: embedded(
    8,
    time,
    "CreationTimestamp is a timestamp of when the server stored the object first.",
  ),
  deletionTimestamp: pointer(
    9,
    time,
    "When the object is due to disappear; set once deletion was asked for.",
  ),
  deletionGracePeriodSeconds: pointer(
    10,
    int64,
    "Seconds left for an orderly end once deletion was asked for.",
  ),
  labels: optional(11, map(string), "Keys and values by which objects are selected."),
  annotations: optional(12, map(string), "Keys and values for tools; never selected by."),
  ownerReferences: optional(
    13,
    list(OwnerReference),
    "Objects this one depends on; when all are gone it is collected.",
    patchMerge("uid"),
  ),
  finalizers: optional(
    14,
    list(string),
    "Names that must be taken away before the object is really removed.",
    patchMerge(),
  ),
  managedFields: optional(17, list(ManagedFieldsEntry), "Which writer owns which fields.", keepEmpty),
});
export type ObjectMeta = TypeOf<typeof ObjectMeta>;

export const ListMeta = message("ListMeta", "What a list carries beside its items.", {
  selfLink: optional(1, string, "No longer filled in; kept for old clients."),
  resourceVersion: optional(2, string, "The version the list is a snapshot of; a watch may start here."),
  continue: optional(3, string, "Token for the next page; empty on the last one."),
  remainingItemCount: pointer(4, int64, "How many items follow this page, when that is known."),
});
export type ListMeta = TypeOf<typeof ListMeta>;
