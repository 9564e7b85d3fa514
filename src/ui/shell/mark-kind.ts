// The kinds of marks on the timeline.

export type MarkKind = "normal" | "warning" | "change" | "good";

/** Events are normal or warnings; the rest is the life of the object itself. */
export const markOf = (type: string): MarkKind =>
  type === "Warning"
    ? "warning"
    : type === "Created" || type === "Changed" || type === "Deleted"
      ? "change"
      : "normal";
