// Reads what the index needs from the end of a stored event: the metadata at its start makes up most of an
// event. Encoded objects have their fields in the order of declaration, and quotes within strings are
// escaped, so after the last `"eventTime":` there are only fields declared after it.
import type { Event } from "#api";
import type { CachedObject } from "#watchcache";
import { type EventReading, readEvent, storedEvent } from "./stored-event.ts";

const eventTimeKey = '"eventTime":';

export function scanEvent(item: CachedObject): EventReading {
  const { json, namespace } = item;
  const at = json.lastIndexOf(eventTimeKey);
  if (at < 0) return readEvent(storedEvent(item));
  const tail = JSON.parse(`{${json.toString("utf8", at)}`) as Omit<Event, "metadata">;
  // An event without any time counts from its creation.
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
