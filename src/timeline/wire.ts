// The wire contract of the timeline group: what its resources answer. All times are RFC 3339 with microseconds.

/** What an entry or a lane is about. Empty parts are left out. */
export interface TimelineObject {
  readonly group?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  /** The plural resource name, where the server serves the kind. */
  readonly resource?: string;
}

/** `Normal` and `Warning` are events (any other type an event has is passed on); the rest are the object's own life. */
export type EntryType = "Normal" | "Warning" | "Created" | "Changed" | "Deleted" | (string & {});

/** One mark on the time axis. A series of events has two: its first occurrence and its last. */
export interface TimelineEntry {
  /** Stable, unique in the cluster: upsert by it when following a watch. */
  readonly id: string;
  readonly time: string;
  readonly type: EntryType;
  readonly object: TimelineObject;
  readonly reason: string;
  /** The event's note, or one line on what changed. */
  readonly note: string;
  /** Who reported the event, or the field manager that made the change. */
  readonly controller?: string;
  readonly instance?: string;
  readonly node?: string;
  readonly action?: string;
  /** Set on both marks of a series. */
  readonly series?: SeriesInfo;
  /** Set where the entry comes from an Event. */
  readonly event?: EventInfo;
  /** Set where the entry comes from the object itself. */
  readonly change?: ChangeInfo;
}

export interface SeriesInfo {
  readonly edge: "first" | "last";
  readonly count: number;
  readonly first: string;
  readonly last: string;
  /** How many of these the server folded in, where folding is on. */
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
  /** The user who deleted or changed it, where auditing is on. */
  readonly user?: string;
  readonly managers?: readonly string[];
  readonly owners?: readonly OwnerInfo[];
  readonly fields?: readonly FieldChange[];
  /** Fields that changed beyond those listed. */
  readonly moreFields?: number;
  /** How many revisions this entry stands for, where several were joined. */
  readonly revisions?: number;
}

export interface OwnerInfo {
  readonly group?: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** One field. Values are JSON, cut when long; Secrets never show any. */
export interface FieldChange {
  /** `spec.replicas`, `metadata.labels["example.com/app"]`, `status.conditions[type=Ready].status`, `args[2]`. */
  readonly path: string;
  readonly op: "added" | "removed" | "changed";
  readonly from?: string;
  readonly to?: string;
  /** The values are not shown: they are secret, or were not kept. */
  readonly withheld?: true;
}

/** What is missing from the answer. */
export interface Missing {
  /** Events that retention removed before their time, since the server started. */
  readonly eventsEvicted: number;
  /** Events that were folded into series, since the server started. */
  readonly eventsFolded: number;
  /** Changes of objects that were not kept, or went early, since the server started. */
  readonly changesDropped: number;
  /** Changes before this time are not known. */
  readonly changesSince: string;
  /** Resources whose changes are left out because the user may not get them: `secrets`, `deployments.apps`. */
  readonly withheld: readonly string[];
}

export interface ListMeta {
  /** Start a watch from here: it continues without a gap. */
  readonly cursor: string;
  /** Set when more follow. */
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
  /** The objects that `tree=true` found, the root first; only then. */
  readonly tree?: readonly TimelineLane[];
  readonly items: readonly TimelineEntry[];
}

/** `GET lanes`: one per object with entries in the range. */
export interface LaneList extends ListOf<"LaneList"> {
  readonly start: string;
  readonly end: string;
  /** Width of a mark's interval; only with `points`. */
  readonly intervalSeconds?: number;
  /** How many lanes match in all. */
  readonly total: number;
  readonly items: readonly TimelineLane[];
}

export interface TimelineLane {
  readonly object: TimelineObject;
  /** From the direct owner upwards; the first one that is a controller at each step. */
  readonly owners: readonly OwnerInfo[];
  /** Whether the object exists now. Unknown kinds leave it out. */
  readonly alive?: boolean;
  /** Marks in the range by type. */
  readonly counts: Readonly<Record<string, number>>;
  readonly first: string;
  readonly last: string;
  /**
   * Four numbers per interval that has any: its index from `start`, normal events, warnings, changes of the
   * object. Only with `points`.
   */
  readonly marks?: readonly number[];
}

/** `GET buckets`: counts per interval, one row per group. */
export interface BucketList extends ListOf<"BucketList"> {
  readonly start: string;
  readonly intervalSeconds: number;
  /** Number of intervals: `counts` of every group has so many. */
  readonly intervals: number;
  readonly groups: readonly BucketGroup[];
}

export interface BucketGroup {
  /** What the group is by: `{"type":"Warning","reason":"BackOff"}`. */
  readonly by: Readonly<Record<string, string>>;
  readonly total: number;
  readonly counts: readonly number[];
}

/** One line of `GET timelines?watch=true`. */
export type TimelineFrame =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: TimelineEntry;
      /** Continue behind this frame from here. */
      readonly cursor: string;
    }
  | { readonly type: "BOOKMARK"; readonly cursor: string }
  | { readonly type: "ERROR"; readonly object: Readonly<Record<string, unknown>> };
