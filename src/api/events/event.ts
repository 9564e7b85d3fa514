// Events: what happened, to which object, and which component reported it.
import { type TypeOf, embedded, int32, microTime, optional, required, string, time } from "#schema";
import { EventSource } from "../core/event.ts";
import { ObjectReference } from "../core/reference.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { events } from "../packages.ts";

const { message, kind } = events;

export const EventSeries = message("EventSeries", "Repetitions of one event.", {
  count: required(1, int32, "How often it was seen in the series so far."),
  lastObservedTime: embedded(2, microTime, "When it was seen last.", { published: "required" }),
});
export type EventSeries = TypeOf<typeof EventSeries>;

export const Event = kind(
  "Event",
  "Something that happened somewhere in the cluster; kept for a limited time.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    eventTime: embedded(2, microTime, "When the event was first seen.", { published: "required" }),
    series: optional(3, EventSeries, "Repetitions; absent for a single event."),
    reportingController: optional(4, string, "Name of the controller that reports."),
    reportingInstance: optional(5, string, "Which instance of the controller reports."),
    action: optional(6, string, "What was done, or failed."),
    reason: optional(7, string, "Why it was done, as one machine-readable word."),
    regarding: embedded(
      8,
      ObjectReference,
      "What the event is about; mostly the object that the controller looks after.",
    ),
    related: optional(9, ObjectReference, "A second object that has to do with it."),
    note: optional(10, string, "What happened, for people."),
    type: optional(11, string, "Normal or Warning; more may come."),
    deprecatedSource: embedded(12, EventSource, "Who reported it, in the older form."),
    deprecatedFirstTimestamp: embedded(13, time, "First seen, in the older form."),
    deprecatedLastTimestamp: embedded(14, time, "Last seen, in the older form."),
    deprecatedCount: optional(15, int32, "How often it was seen, in the older form."),
  },
);
export type Event = TypeOf<typeof Event>;
