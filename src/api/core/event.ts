// Events of the core group: the same stored objects under their older field names.
import { type TypeOf, embedded, int32, microTime, optional, required, string, time } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { core } from "../packages.ts";
import { ObjectReference } from "./reference.ts";

const { message, kind } = core;

export const EventSource = message("EventSource", "Who reported an event, in the older form.", {
  component: optional(1, string, "The reporting program."),
  host: optional(2, string, "The node it ran on."),
});
export type EventSource = TypeOf<typeof EventSource>;

export const EventSeries = message("EventSeries", "Repetitions of one event.", {
  count: optional(1, int32, "How often it was seen in the series so far."),
  lastObservedTime: embedded(2, microTime, "When it was seen last."),
});
export type EventSeries = TypeOf<typeof EventSeries>;

export const Event = kind("Event", "Something that happened to an object.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries.", {
    published: "required",
  }),
  involvedObject: embedded(2, ObjectReference, "What it happened to.", { published: "required" }),
  reason: optional(3, string, "Why, as one machine-readable word."),
  message: optional(4, string, "What happened, for people."),
  source: embedded(5, EventSource, "Who reported it, in the older form."),
  firstTimestamp: embedded(6, time, "When it was first seen."),
  lastTimestamp: embedded(7, time, "When it was last seen."),
  count: optional(8, int32, "How often it was seen."),
  type: optional(9, string, "Normal or Warning; more may come."),
  eventTime: embedded(10, microTime, "When it was first seen, to the microsecond."),
  series: optional(11, EventSeries, "Repetitions; absent for a single event."),
  action: optional(12, string, "What was done, or failed."),
  related: optional(13, ObjectReference, "A second object that has to do with it."),
  reportingComponent: required(14, string, "Name of the controller that reports.", { published: "optional" }),
  reportingInstance: required(15, string, "Which instance of the controller reports.", {
    published: "optional",
  }),
});
export type Event = TypeOf<typeof Event>;
