// The kinds of marks on the timeline.

export type MarkKind = "normal" | "warning" | "change" | "good";

/**
 * Returns the kind of mark for an entry type: events are normal or warnings, other types are changes of the
 * object.
 */
export const markOf = (type: string): MarkKind =>
  type === "Warning"
    ? "warning"
    : type === "Created" || type === "Changed" || type === "Deleted"
      ? "change"
      : "normal";
