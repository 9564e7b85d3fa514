// What the index needs of a stored event, parsed from the end of its bytes: metadata, which comes first, is most of
// an event. Encoded objects have their fields in the order of their declaration, and what stands in strings has its
// quotes escaped: behind the last `"eventTime":` is nothing but the fields declared after it.
import type { Event } from "#api";
import type { CachedObject } from "#watchcache";
import { type EventReading, readEvent, storedEvent } from "./stored-event.ts";

const eventTimeKey = '"eventTime":';

export function scanEvent(item: CachedObject): EventReading {
  const { json, namespace } = item;
  const at = json.lastIndexOf(eventTimeKey);
  if (at < 0) return readEvent(storedEvent(item));
  const tail = JSON.parse(`{${json.toString("utf8", at)}`) as Omit<Event, "metadata">;
  // Without a time of its own it counts from its creation.
  return hasTime(tail)
    ? readEvent({ ...tail, metadata: { namespace, creationTimestamp: null } })
    : readEvent(storedEvent(item));
}

const hasTime = ({
  eventTime,
  series,
  deprecatedFirstTimestamp,
  deprecatedLastTimestamp,
}: Omit<Event, "metadata">): boolean =>
  Boolean(eventTime || series?.lastObservedTime || deprecatedFirstTimestamp || deprecatedLastTimestamp);
