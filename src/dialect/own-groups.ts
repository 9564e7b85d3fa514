// Our own API groups. They have the same name in every dialect, as no other system has them.

/** The read-only group of the event timeline. */
export const timelineGroup = "timeline.orch.io";

/** Annotation of an event with the number of events folded into it. */
export const foldedAnnotation = `${timelineGroup}/folded`;
