// Events: what happened, to which object, and which component reported it.
import { type TypeOf, embedded, int32, microTime, optional, required, string, time } from "#schema";
import { EventSource } from "../core/event.ts";
import { ObjectReference } from "../core/reference.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { events } from "../packages.ts";

const { message, kind } = events;

export const EventSeries = message("EventSeries", "A series of occurrences of the same event.", {
  count: required(1, int32, "Number of occurrences in the series so far."),
  lastObservedTime: embedded(2, microTime, "Time of the last observed occurrence.", {
    published: "required",
  }),
});
export type EventSeries = TypeOf<typeof EventSeries>;

export const Event = kind("Event", "A report of an event in the cluster; retained for a limited time.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  eventTime: embedded(2, microTime, "Time at which the event was first observed.", { published: "required" }),
  series: optional(3, EventSeries, "Series that the event represents; unset for a single occurrence."),
  reportingController: optional(4, string, "Name of the controller that emitted the event."),
  reportingInstance: optional(
    5,
    string,
    "ID of the controller instance that emitted the event, such as its pod name.",
  ),
  action: optional(6, string, "Action that was taken, or that failed, regarding the object."),
  reason: optional(7, string, "Machine-readable reason why the action was taken."),
  regarding: embedded(
    8,
    ObjectReference,
    "Object that the event is about, in most cases one that the reporting controller manages.",
  ),
  related: optional(9, ObjectReference, "Secondary object of a more complex action."),
  note: optional(10, string, "Human-readable description of the event."),
  type: optional(11, string, "Type of the event: Normal or Warning; further types may be added."),
  deprecatedSource: embedded(12, EventSource, "Deprecated: source of the event, as in the core group."),
  deprecatedFirstTimestamp: embedded(
    13,
    time,
    "Deprecated: time of the first occurrence, as in the core group.",
  ),
  deprecatedLastTimestamp: embedded(
    14,
    time,
    "Deprecated: time of the most recent occurrence, as in the core group.",
  ),
  deprecatedCount: optional(15, int32, "Deprecated: number of occurrences, as in the core group."),
});
export type Event = TypeOf<typeof Event>;
