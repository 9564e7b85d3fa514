// The API types of the timeline group's responses. All times are RFC 3339 with microseconds.

/** The object of an entry or a lane. Empty fields are omitted. */
export interface TimelineObject {
  readonly group?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  /** The plural resource name, if the server serves the kind. */
  readonly resource?: string;
}

/**
 * `Normal` and `Warning` are events (any other event type is passed on); the rest are changes of the object
 * itself.
 */
export type EntryType = "Normal" | "Warning" | "Created" | "Changed" | "Deleted" | (string & {});

/** One mark on the time axis. A series of events has two: its first occurrence and its last. */
export interface TimelineEntry {
  /** Stable, unique in the cluster: upsert by it when following a watch. */
  readonly id: string;
  readonly time: string;
  readonly type: EntryType;
  readonly object: TimelineObject;
  readonly reason: string;
  /** The event's note, or a one-line summary of the change. */
  readonly note: string;
  /** The reporter of the event, or the field manager that made the change. */
  readonly controller?: string;
  readonly instance?: string;
  readonly node?: string;
  readonly action?: string;
  /** Set on both marks of a series. */
  readonly series?: SeriesInfo;
  /** Set if the entry comes from an Event. */
  readonly event?: EventInfo;
  /** Set if the entry comes from the object itself. */
  readonly change?: ChangeInfo;
}

export interface SeriesInfo {
  readonly edge: "first" | "last";
  readonly count: number;
  readonly first: string;
  readonly last: string;
  /** The number of occurrences that the server folded in, if folding is enabled. */
  readonly folded?: number;
}

export interface EventInfo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly related?: TimelineObject;
  /** The part of the object, such as `spec.containers{app}`. */
  readonly fieldPath?: string;
}

export interface ChangeInfo {
  readonly resourceVersion: string;
  /** The user who changed or deleted it, if auditing is enabled. */
  readonly user?: string;
  readonly managers?: readonly string[];
  readonly owners?: readonly OwnerInfo[];
  readonly fields?: readonly FieldChange[];
  /** The number of changed fields that are not listed. */
  readonly moreFields?: number;
  /** The number of revisions this entry stands for, if several were joined. */
  readonly revisions?: number;
}

export interface OwnerInfo {
  readonly group?: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** A changed field. Values are JSON, truncated when long; values of Secrets are never shown. */
export interface FieldChange {
  /** `spec.replicas`, `metadata.labels["example.com/app"]`, `status.conditions[type=Ready].status`, `args[2]`. */
  readonly path: string;
  readonly op: "added" | "removed" | "changed";
  readonly from?: string;
  readonly to?: string;
  /** The values are not shown: they are secret, or were not recorded. */
  readonly withheld?: true;
}

/** What is missing from the response. */
export interface Missing {
  /** Events that retention deleted before they expired, since the server started. */
  readonly eventsEvicted: number;
  /** Events that were folded into series, since the server started. */
  readonly eventsFolded: number;
  /** Changes of objects that were not recorded, or dropped early, since the server started. */
  readonly changesDropped: number;
  /** Changes before this time are unknown. */
  readonly changesSince: string;
  /** Resources whose changes are omitted because the user may not get them: `secrets`, `deployments.apps`. */
  readonly withheld: readonly string[];
}

export interface ListMeta {
  /** A watch from this cursor continues without a gap. */
  readonly cursor: string;
  /** Set if more entries follow. */
  readonly continue?: string;
}

interface ListOf<Kind extends string> {
  readonly kind: Kind;
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly missing: Missing;
}

/** `GET timelines`: entries in time order. */
export interface Timeline extends ListOf<"Timeline"> {
  /** The objects of the tree, the root first; set only with `tree=true`. */
  readonly tree?: readonly TimelineLane[];
  readonly items: readonly TimelineEntry[];
}

/** `GET lanes`: one per object with entries in the range. */
export interface LaneList extends ListOf<"LaneList"> {
  readonly start: string;
  readonly end: string;
  /** Width of a mark's interval; only with `points`. */
  readonly intervalSeconds?: number;
  /** The total number of matching lanes. */
  readonly total: number;
  readonly items: readonly TimelineLane[];
}

export interface TimelineLane {
  readonly object: TimelineObject;
  /** From the direct owner upwards; the first controller at each step. */
  readonly owners: readonly OwnerInfo[];
  /** Whether the object exists now; omitted for unknown kinds. */
  readonly alive?: boolean;
  /** Marks in the range by type. */
  readonly counts: Readonly<Record<string, number>>;
  readonly first: string;
  readonly last: string;
  /**
   * Four numbers per non-empty interval: its index from `start`, normal events, warnings, changes of the
   * object. Only with `points`.
   */
  readonly marks?: readonly number[];
}

/** `GET buckets`: counts per interval, one row per group. */
export interface BucketList extends ListOf<"BucketList"> {
  readonly start: string;
  readonly intervalSeconds: number;
  /** Number of intervals, which is the length of each group's `counts`. */
  readonly intervals: number;
  readonly groups: readonly BucketGroup[];
}

export interface BucketGroup {
  /** The values that define the group: `{"type":"Warning","reason":"BackOff"}`. */
  readonly by: Readonly<Record<string, string>>;
  readonly total: number;
  readonly counts: readonly number[];
}

/** One line of `GET timelines?watch=true`. */
export type TimelineFrame =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: TimelineEntry;
      /** A watch from this cursor continues after this frame. */
      readonly cursor: string;
    }
  | { readonly type: "BOOKMARK"; readonly cursor: string }
  | { readonly type: "ERROR"; readonly object: Readonly<Record<string, unknown>> };
