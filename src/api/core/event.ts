// Events of the core group: the same stored objects under their older field names.
import { type TypeOf, embedded, int32, microTime, optional, required, string, time } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { core } from "../packages.ts";
import { ObjectReference } from "./reference.ts";

const { message, kind } = core;

export const EventSource = message("EventSource", "Source of an event.", {
  component: optional(1, string, "Component that generated the event."),
  host: optional(2, string, "Name of the node on which the event was generated."),
});
export type EventSource = TypeOf<typeof EventSource>;

export const EventSeries = message("EventSeries", "A series of occurrences of the same event.", {
  count: optional(1, int32, "Number of occurrences in the series so far."),
  lastObservedTime: embedded(2, microTime, "Time of the last observed occurrence."),
});
export type EventSeries = TypeOf<typeof EventSeries>;

export const Event = kind(
  "Event",
  "A report of an event in the cluster, such as a state change of an object.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata.", {
      published: "required",
    }),
    involvedObject: embedded(2, ObjectReference, "Object that the event is about.", {
      published: "required",
    }),
    reason: optional(3, string, "Short, machine-readable reason for the event."),
    message: optional(4, string, "Human-readable description of the event."),
    source: embedded(5, EventSource, "Component that reported the event."),
    firstTimestamp: embedded(6, time, "Time at which the event was first recorded."),
    lastTimestamp: embedded(7, time, "Time of the most recent occurrence of the event."),
    count: optional(8, int32, "Number of times the event has occurred."),
    type: optional(9, string, "Type of the event: Normal or Warning; further types may be added."),
    eventTime: embedded(
      10,
      microTime,
      "Time at which the event was first observed, with microsecond precision.",
    ),
    series: optional(11, EventSeries, "Series that the event represents; unset for a single occurrence."),
    action: optional(12, string, "Action that was taken, or that failed, regarding the object."),
    related: optional(13, ObjectReference, "Secondary object of a more complex action."),
    reportingComponent: required(14, string, "Name of the controller that emitted the event.", {
      published: "optional",
    }),
    reportingInstance: required(
      15,
      string,
      "ID of the controller instance that emitted the event, such as its pod name.",
      {
        published: "optional",
      },
    ),
  },
);
export type Event = TypeOf<typeof Event>;
