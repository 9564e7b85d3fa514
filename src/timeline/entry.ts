// Converts points to timeline entries.
import { foldedAnnotation } from "#dialect";
import type { Kinds } from "./kinds.ts";
import { type ObjectName, groupOf } from "./lane.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { Point } from "./point-table.ts";
import type { EventRecord, Facet } from "./record.ts";
import { readEvent, storedEvent, timeText } from "./stored-event.ts";
import type { CachedObject } from "#watchcache";
import type { TimelineEntry, TimelineObject } from "./wire.ts";

type Edge = Point["edge"];

export function entryOf({ record, edge }: Pick<Point, "record" | "edge">, kinds: Kinds): TimelineEntry {
  return record.from === "event" ? eventEntry(record, edge, kinds) : changeEntry(record.change, kinds);
}

/** Returns both entries of a series, or the single entry of an event. */
export function eventEntries(item: CachedObject, kinds: Kinds): readonly TimelineEntry[] {
  const { first, last, facet } = readEvent(storedEvent(item));
  const of = (edge: Edge) => eventEntry({ item, facet }, edge, kinds);
  return last > first ? [of("first"), of("last")] : [of("first")];
}

function eventEntry(
  { item, facet }: Pick<EventRecord, "item"> & { readonly facet: Omit<Facet, "id" | "points"> },
  edge: Edge,
  kinds: Kinds,
): TimelineEntry {
  const event = storedEvent(item);
  const { metadata, regarding, related } = event;
  const { object, count, first, last } = readEvent(event);
  const uid = metadata.uid ?? "";
  return {
    id: edge === "first" ? uid : `${uid}/last`,
    time: timeText(edge === "first" ? first : last),
    type: facet.type,
    object: objectOf({ ...object, namespace: regarding.namespace ?? "" }, kinds),
    reason: facet.reason,
    note: event.note ?? "",
    ...some("controller", facet.controller),
    ...some("instance", event.reportingInstance || ""),
    ...some("node", facet.node),
    ...some("action", event.action ?? ""),
    ...((count > 1 || last > first) && {
      series: {
        edge,
        count,
        first: timeText(first),
        last: timeText(last),
        ...(metadata.annotations?.[foldedAnnotation] !== undefined && {
          folded: Number(metadata.annotations[foldedAnnotation]) || 0,
        }),
      },
    }),
    event: {
      namespace: metadata.namespace ?? "",
      name: metadata.name ?? "",
      uid,
      resourceVersion: String(item.revision),
      ...(related && {
        related: objectOf(
          {
            group: groupOf(related.apiVersion ?? ""),
            kind: related.kind ?? "",
            namespace: related.namespace ?? "",
            name: related.name ?? "",
            uid: related.uid ?? "",
          },
          kinds,
        ),
      }),
      ...some("fieldPath", regarding.fieldPath ?? ""),
    },
  };
}

export function changeEntry(change: JournalRecord, kinds: Kinds): TimelineEntry {
  const { managers, owners, fields, moreFields, revisions, user } = change;
  return {
    id: `${change.uid}@${change.revision}`,
    time: timeText(change.time),
    type: change.type,
    object: objectOf(change, kinds),
    reason: change.type,
    note: changeNote(change),
    ...some("controller", managers?.[0] ?? ""),
    ...some("node", change.kind === "Node" ? change.name : ""),
    change: {
      resourceVersion: String(change.revision),
      ...(user !== undefined && { user }),
      ...(managers && { managers }),
      ...(owners && { owners }),
      ...(fields && { fields }),
      ...(moreFields !== undefined && { moreFields }),
      ...(revisions !== undefined && { revisions }),
    },
  };
}

const maxShownPaths = 3;

/** Returns a one-line summary: the first fields, and how many more there are. */
function changeNote({ type, fields = [], moreFields = 0, user }: JournalRecord): string {
  const by = user === undefined ? "" : ` by ${user}`;
  if (type !== "Changed") return `${type.toLowerCase()}${by}`;
  const rest = fields.length + moreFields - Math.min(fields.length, maxShownPaths);
  const paths = fields.slice(0, maxShownPaths).map(({ path }) => path);
  if (paths.length === 0) return `changed${by}`;
  return `changed ${paths.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}${by}`;
}

export function objectOf({ group, kind, namespace, name, uid }: ObjectName, kinds: Kinds): TimelineObject {
  const served = kinds.find(kind, group);
  return {
    ...some("group", group),
    kind,
    ...some("namespace", namespace),
    name,
    ...some("uid", uid),
    ...some("resource", served?.plural ?? ""),
  };
}

const some = <Key extends string>(key: Key, value: string): { readonly [K in Key]?: string } =>
  (value === "" ? {} : { [key]: value }) as { readonly [K in Key]?: string };
