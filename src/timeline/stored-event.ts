// Reads stored Events in the form of the events group, whichever group they were written through.
import type { Event } from "#api";
import { formatMicroTime, parseTime } from "#base";
import type { CachedObject } from "#watchcache";
import { type ObjectName, groupOf } from "./lane.ts";
import type { Facet } from "./record.ts";

export interface EventReading {
  readonly object: ObjectName;
  readonly facet: Omit<Facet, "id" | "points">;
  /** Microseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

export const storedEvent = (item: CachedObject): Event => JSON.parse(item.json.toString()) as Event;

/**
 * Reads an event. Its object counts as one of the event's own namespace, or as cluster-scoped: events may
 * name any namespace, but permission to write them is given by their own.
 */
export function readEvent(event: Event): EventReading {
  const { regarding, deprecatedSource: source, series, metadata } = event;
  const kind = regarding.kind ?? "";
  const name = regarding.name ?? "";
  const created = microsOf(metadata.creationTimestamp) ?? 0;
  const first = microsOf(event.eventTime) ?? microsOf(event.deprecatedFirstTimestamp);
  const last = microsOf(series?.lastObservedTime) ?? microsOf(event.deprecatedLastTimestamp);
  const count = series?.count || event.deprecatedCount || 1;
  const begin = first ?? last ?? created;
  return {
    object: {
      group: groupOf(regarding.apiVersion ?? ""),
      kind,
      namespace: regarding.namespace ? (metadata.namespace ?? "") : "",
      name,
      uid: regarding.uid ?? "",
    },
    facet: {
      type: event.type || "Normal",
      reason: event.reason ?? "",
      controller: source.component || event.reportingController || "",
      group: groupOf(regarding.apiVersion ?? ""),
      kind,
      namespace: metadata.namespace ?? "",
      node: source.host || (kind === "Node" ? name : ""),
      resource: "",
    },
    first: begin,
    last: Math.max(last ?? begin, begin),
    count,
  };
}

/** Returns microseconds since the epoch, or undefined for an absent or invalid time. */
export function microsOf(time: string | null | undefined): number | undefined {
  if (!time) return undefined;
  try {
    const { seconds, nanos } = parseTime(time);
    return seconds * 1e6 + Math.floor(nanos / 1000);
  } catch {
    return undefined;
  }
}

export const timeText = (micros: number): string => {
  const seconds = Math.floor(micros / 1e6);
  return formatMicroTime({ seconds, nanos: (micros - seconds * 1e6) * 1000 });
};
