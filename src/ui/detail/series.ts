// A series of events has two entries; in a list it is shown once, at its last occurrence.
import type { TimelineEntry } from "../api/wire.ts";

export function onceEach(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const ended = new Set(
    entries.flatMap(({ series, event }) => (series?.edge === "last" && event ? [event.uid] : [])),
  );
  return entries.filter(({ series, event }) => series?.edge !== "first" || !event || !ended.has(event.uid));
}
