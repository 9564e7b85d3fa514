// A series of events has two marks in time; in a list it is one line, at its last occurrence.
import type { TimelineEntry } from "../api/wire.ts";

export function onceEach(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const ended = new Set(
    entries.flatMap(({ series, event }) => (series?.edge === "last" && event ? [event.uid] : [])),
  );
  return entries.filter(({ series, event }) => series?.edge !== "first" || !event || !ended.has(event.uid));
}
