// Options of requests; each can also be given in the query.
import { type TypeOf, bool, int64, list, optional, pointer, string } from "#schema";
import { UID } from "../named-types.ts";
import { meta } from "../packages.ts";

const { message, kind, named } = meta;

export const Preconditions = message("Preconditions", "What must hold for a deletion to go ahead.", {
  uid: pointer(1, UID, "The object must have this identity."),
  resourceVersion: pointer(2, string, "The object must be at this version."),
});
export type Preconditions = TypeOf<typeof Preconditions>;

export const GetOptions = kind("GetOptions", "Options of a read.", {
  resourceVersion: optional(1, string, "How fresh the answer must be; 0 takes whatever is at hand."),
});
export type GetOptions = TypeOf<typeof GetOptions>;

export const ListOptions = kind("ListOptions", "Options of a list or a watch.", {
  labelSelector: optional(1, string, "Only objects whose labels match."),
  fieldSelector: optional(2, string, "Only objects whose fields match."),
  watch: optional(3, bool, "Asks for a stream of changes instead of a list."),
  allowWatchBookmarks: optional(9, bool, "Lets the stream carry marks of progress."),
  resourceVersion: optional(4, string, "Where a watch begins, or how fresh a list must be."),
  resourceVersionMatch: optional(
    10,
    named("ResourceVersionMatch", string),
    "How to read resourceVersion in a list: Exact or NotOlderThan.",
  ),
  timeoutSeconds: pointer(5, int64, "Ends the call after this time."),
  limit: optional(7, int64, "Most items to return in one page."),
  continue: optional(8, string, "Token of the page before, to go on from there."),
  sendInitialEvents: pointer(11, bool, "Begins a watch with the present state as a run of additions."),
});
export type ListOptions = TypeOf<typeof ListOptions>;

export const CreateOptions = kind("CreateOptions", "Options of a create.", {
  dryRun: optional(1, list(string), "All does everything but store."),
  fieldManager: optional(3, string, "Name under which field ownership is recorded."),
  fieldValidation: optional(4, string, "What to do with unknown or doubled fields: Ignore, Warn or Strict."),
});
export type CreateOptions = TypeOf<typeof CreateOptions>;

export const UpdateOptions = kind("UpdateOptions", "Options of a replace.", {
  dryRun: optional(1, list(string), "All does everything but store."),
  fieldManager: optional(2, string, "Name under which field ownership is recorded."),
  fieldValidation: optional(3, string, "What to do with unknown or doubled fields: Ignore, Warn or Strict."),
});
export type UpdateOptions = TypeOf<typeof UpdateOptions>;

export const PatchOptions = kind("PatchOptions", "Options of a patch or an apply.", {
  dryRun: optional(1, list(string), "All does everything but store."),
  force: pointer(2, bool, "Lets an apply take fields that others own."),
  fieldManager: optional(3, string, "Name under which field ownership is recorded; an apply needs one."),
  fieldValidation: optional(4, string, "What to do with unknown or doubled fields: Ignore, Warn or Strict."),
});
export type PatchOptions = TypeOf<typeof PatchOptions>;

export const DeleteOptions = kind("DeleteOptions", "Options of a deletion.", {
  gracePeriodSeconds: pointer(
    1,
    int64,
    "Time for an orderly end; 0 removes at once, unset takes the kind's own.",
  ),
  preconditions: optional(2, Preconditions, "Refuses the deletion unless these hold."),
  orphanDependents: pointer(3, bool, "Old way to say whether dependents stay; use propagationPolicy."),
  propagationPolicy: pointer(
    4,
    named("DeletionPropagation", string),
    "What becomes of dependents: Orphan, Background or Foreground.",
  ),
  dryRun: optional(5, list(string), "All does everything but remove."),
});
export type DeleteOptions = TypeOf<typeof DeleteOptions>;
