// What the index needs of a stored event, read from its bytes: to parse all of it would take most of the time that
// making the index takes. Encoded objects have their fields in the order of their declaration, metadata first, and
// what stands in strings has its quotes escaped: behind the last `"eventTime":` no name of a field can be mistaken.
import type { CachedObject } from "#watchcache";
import { groupOf } from "./lane.ts";
import { type EventReading, microsOf, readEvent, storedEvent } from "./stored-event.ts";

const eventTimeKey = '"eventTime":';

export function scanEvent(item: CachedObject): Omit<EventReading, "count"> {
  const { json, fields } = item;
  const at = json.lastIndexOf(eventTimeKey);
  if (at < 0 || fields["involvedObject.kind"] === undefined) return readEvent(storedEvent(item));
  const tail = json.toString("latin1", at);
  const begin =
    microsOf(valueAt(tail, eventTimeKey.length)) ?? microsOf(valueOf(tail, '"deprecatedFirstTimestamp":'));
  const last = microsOf(seriesTime(tail)) ?? microsOf(valueOf(tail, '"deprecatedLastTimestamp":'));
  const start = begin ?? last;
  if (start === undefined) return readEvent(storedEvent(item));
  const kind = fields["involvedObject.kind"];
  const name = fields["involvedObject.name"] ?? "";
  const group = groupOf(fields["involvedObject.apiVersion"] ?? "");
  return {
    object: {
      group,
      kind,
      namespace: fields["involvedObject.namespace"] ?? "",
      name,
      uid: fields["involvedObject.uid"] ?? "",
    },
    facet: {
      type: fields["type"] || "Normal",
      reason: fields["reason"] ?? "",
      controller: fields["source"] ?? "",
      group,
      kind,
      namespace: item.namespace,
      node: hostOf(tail) || (kind === "Node" ? name : ""),
      resource: "",
    },
    first: start,
    last: Math.max(last ?? start, start),
  };
}

/** The string that begins at a place; undefined where none does. */
function valueAt(tail: string, at: number): string | undefined {
  return tail[at] === '"' ? tail.slice(at + 1, tail.indexOf('"', at + 1)) : undefined;
}

/** The string behind the name of one of the last fields. */
function valueOf(tail: string, key: string): string | undefined {
  const at = tail.lastIndexOf(key);
  return at < 0 ? undefined : valueAt(tail, at + key.length);
}

/** The series, where there is one, follows the time at once. */
function seriesTime(tail: string): string | undefined {
  const at = tail.indexOf(",");
  if (!tail.startsWith(',"series":{', at)) return undefined;
  const key = '"lastObservedTime":';
  const found = tail.indexOf(key, at);
  return found < 0 ? undefined : valueAt(tail, found + key.length);
}

function hostOf(tail: string): string {
  const key = '"host":';
  const at = tail.lastIndexOf(key);
  if (at < 0) return "";
  const found = /"(?:[^"\\]|\\.)*"/y;
  found.lastIndex = at + key.length;
  const text = found.exec(tail)?.[0] ?? '""';
  return JSON.parse(Buffer.from(text, "latin1").toString()) as string;
}
