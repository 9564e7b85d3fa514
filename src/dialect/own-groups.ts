// API groups of our own. They have the same name in every dialect: no other system has them.

/** The read-only group of the event timeline. */
export const timelineGroup = "timeline.orch.io";

/** The annotation of an event into which others were folded: how many. */
export const foldedAnnotation = `${timelineGroup}/folded`;
