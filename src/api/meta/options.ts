// Options of requests; each can also be given in the query.
import { type TypeOf, bool, int64, list, optional, pointer, string } from "#schema";
import { UID } from "../named-types.ts";
import { meta } from "../packages.ts";

const { message, kind, named } = meta;

export const Preconditions = message(
  "Preconditions",
  "Preconditions that must be fulfilled before a deletion is carried out.",
  {
    uid: pointer(1, UID, "UID that the object must have."),
    resourceVersion: pointer(2, string, "Resource version that the object must have."),
  },
);
export type Preconditions = TypeOf<typeof Preconditions>;

export const GetOptions = kind("GetOptions", "Query options of a get request.", {
  resourceVersion: optional(
    1,
    string,
    "Minimum resource version of the result; 0 permits any version, unset requires the most recent one.",
  ),
});
export type GetOptions = TypeOf<typeof GetOptions>;

export const ListOptions = kind("ListOptions", "Query options of a list or watch request.", {
  labelSelector: optional(1, string, "Label selector of the returned objects; defaults to everything."),
  fieldSelector: optional(2, string, "Field selector of the returned objects; defaults to everything."),
  watch: optional(3, bool, "Whether to stream changes of the objects instead of returning a list."),
  allowWatchBookmarks: optional(9, bool, "Whether the watch may send BOOKMARK events."),
  resourceVersion: optional(
    4,
    string,
    "Resource version at which a watch starts, or which constrains a list.",
  ),
  resourceVersionMatch: optional(
    10,
    named("ResourceVersionMatch", string),
    "How resourceVersion constrains a list: Exact or NotOlderThan.",
  ),
  timeoutSeconds: pointer(5, int64, "Seconds after which the request is ended, regardless of activity."),
  limit: optional(7, int64, "Maximum number of objects to return in a page."),
  continue: optional(8, string, "Continue token of the previous page."),
  sendInitialEvents: pointer(
    11,
    bool,
    "Whether a watch begins with synthetic ADDED events for the existing objects, ended by a bookmark.",
  ),
});
export type ListOptions = TypeOf<typeof ListOptions>;

export const CreateOptions = kind("CreateOptions", "Query options of a create request.", {
  dryRun: optional(
    1,
    list(string),
    "Stages to dry-run; the only valid value is All, which processes the request without persisting it.",
  ),
  fieldManager: optional(3, string, "Name of the field manager that makes the changes."),
  fieldValidation: optional(
    4,
    string,
    "How unknown and duplicate fields are treated: Ignore, Warn or Strict.",
  ),
});
export type CreateOptions = TypeOf<typeof CreateOptions>;

export const UpdateOptions = kind("UpdateOptions", "Query options of an update request.", {
  dryRun: optional(
    1,
    list(string),
    "Stages to dry-run; the only valid value is All, which processes the request without persisting it.",
  ),
  fieldManager: optional(2, string, "Name of the field manager that makes the changes."),
  fieldValidation: optional(
    3,
    string,
    "How unknown and duplicate fields are treated: Ignore, Warn or Strict.",
  ),
});
export type UpdateOptions = TypeOf<typeof UpdateOptions>;

export const PatchOptions = kind("PatchOptions", "Query options of a patch or apply request.", {
  dryRun: optional(
    1,
    list(string),
    "Stages to dry-run; the only valid value is All, which processes the request without persisting it.",
  ),
  force: pointer(2, bool, "Whether an apply request takes over conflicting fields of other managers."),
  fieldManager: optional(
    3,
    string,
    "Name of the field manager that makes the changes; required for apply requests.",
  ),
  fieldValidation: optional(
    4,
    string,
    "How unknown and duplicate fields are treated: Ignore, Warn or Strict.",
  ),
});
export type PatchOptions = TypeOf<typeof PatchOptions>;

export const DeleteOptions = kind("DeleteOptions", "Options of a delete request.", {
  gracePeriodSeconds: pointer(
    1,
    int64,
    "Seconds before the object is deleted; 0 deletes it immediately, unset uses the default of its kind.",
  ),
  preconditions: optional(2, Preconditions, "Preconditions that must be fulfilled for the deletion."),
  orphanDependents: pointer(
    3,
    bool,
    "Deprecated in favor of propagationPolicy: whether dependents are orphaned.",
  ),
  propagationPolicy: pointer(
    4,
    named("DeletionPropagation", string),
    "How dependents are treated by garbage collection: Orphan, Background or Foreground.",
  ),
  dryRun: optional(
    5,
    list(string),
    "Stages to dry-run; the only valid value is All, which processes the request without deleting " +
      "anything.",
  ),
});
export type DeleteOptions = TypeOf<typeof DeleteOptions>;
