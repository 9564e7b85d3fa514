// A timeline watch: streams what happens after a cursor until the client, the timeout or the server ends it.
import { ApiError, type Clock, expired } from "#base";
import { statusObject } from "#endpoints";
import type { Reply, Sink } from "#http";
import { Compacted } from "#store";
import type { Frame, ObjectSource } from "#watchcache";
import { selectEverything } from "#base";
import { changeEntry, eventEntries } from "./entry.ts";
import type { Filter } from "./filter.ts";
import type { Journal } from "./journal.ts";
import type { JournalRecord } from "./journal-record.ts";
import { type Kinds, withUidOfNode } from "./kinds.ts";
import type { ObjectName } from "./lane.ts";
import type { LiveIndex } from "./live-index.ts";
import { type TimelineParameters, cursorToken } from "./parameters.ts";
import { readEvent, storedEvent } from "./stored-event.ts";
import { entryHas } from "./timelines.ts";
import type { TimelineEntry, TimelineFrame } from "./wire.ts";

export interface Following {
  readonly options: {
    readonly clock: Clock;
    readonly closing: AbortSignal;
    readonly minRequestTimeoutSeconds: number;
  };
  readonly events: ObjectSource;
  readonly journal: Journal;
  readonly kinds: Kinds;
  readonly live: LiveIndex;
  readonly parameters: TimelineParameters;
  readonly filter: Filter;
}

/** A watch with a larger backlog is closed: one slow client must not hold back or exhaust the server. */
const maxBacklogBytes = 8 * 1024 * 1024;
const bookmarkMilliseconds = 10_000;

export const follow = (following: Following): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: { stream: (sink) => stream(following, sink) },
});

async function stream(following: Following, sink: Sink): Promise<void> {
  const { options, events, journal, parameters, kinds } = following;
  const { clock, closing } = options;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
    resolve();
  };
  const seen = { events: parameters.cursor?.events ?? 0, changes: parameters.cursor?.changes ?? 0 };
  const write = (frame: TimelineFrame): void => {
    sink.write(Buffer.from(`${JSON.stringify(frame)}\n`));
    if (sink.backlogBytes > maxBacklogBytes) end();
  };
  const matches = await deliveryFilter(following);
  const send = (type: "ADDED" | "MODIFIED" | "DELETED", entry: TimelineEntry): void => {
    if (parameters.text === "" || entryHas(entry, parameters.text))
      write({ type, object: entry, cursor: cursorToken(seen) });
  };
  const deliver = (frames: readonly Frame[]): void => {
    for (const { type, item } of frames) {
      seen.events = Math.max(seen.events, item.revision);
      if (type === "BOOKMARK") continue;
      const { object, facet } = readEvent(storedEvent(item));
      if (matches.facet(facet) && matches.object(withUidOfNode(object, kinds)))
        for (const entry of eventEntries(item, kinds)) send(type, entry);
    }
  };
  const added = (record: JournalRecord): void => {
    seen.changes = Math.max(seen.changes, record.sequence);
    if (matches.change(record)) send("ADDED", changeEntry(record, kinds));
  };
  const mark = (): void => {
    if (!stop.signal.aborted) write({ type: "BOOKMARK", cursor: cursorToken(seen) });
  };
  let cancelMark = (): void => undefined;
  const markLater = (): void => {
    cancelMark = clock.after(bookmarkMilliseconds, () => {
      seen.events = Math.max(seen.events, events.lastChange());
      mark();
      markLater();
    });
  };
  sink.closed.addEventListener("abort", end, { once: true });
  closing.addEventListener("abort", end, { once: true });
  const cancelEnd = clock.after(timeoutMilliseconds(following), end);
  if (sink.closed.aborted || closing.aborted) end();
  try {
    const missed = parameters.cursor && journal.after(parameters.cursor.changes);
    if (parameters.cursor && !missed) throw expired("the cursor is too old: changes behind it are gone");
    for (const record of missed ?? []) added(record);
    journal.follow(
      { added, removed: () => undefined, owners: () => undefined, forgotten: () => undefined },
      stop.signal,
    );
    seen.changes = journal.sequence;
    await events.watch(
      {
        below: parameters.path === "" ? "" : `${parameters.path}/`,
        selector: selectEverything,
        from: parameters.cursor?.events ?? "now",
        signal: stop.signal,
      },
      { deliver, drained: () => sink.drained(), ended: end },
    );
    seen.events = Math.max(seen.events, events.lastChange());
    mark();
    markLater();
    await over;
  } catch (error) {
    const known =
      error instanceof Compacted ? expired(`the cursor is too old: ${parameters.cursor?.events}`) : error;
    if (!(known instanceof ApiError)) throw known;
    write({ type: "ERROR", object: statusObject(known) });
  } finally {
    stop.abort();
    closing.removeEventListener("abort", end);
    cancelEnd();
    cancelMark();
  }
}

const timeoutMilliseconds = ({ parameters, options }: Following): number =>
  (parameters.timeoutSeconds ?? options.minRequestTimeoutSeconds * (1 + Math.random())) * 1000;

/** Returns what the watch delivers: with `tree` also the descendants of its roots, including future ones. */
async function deliveryFilter({ filter, parameters, live }: Following): Promise<{
  facet: Filter["facet"];
  object(object: ObjectName): boolean;
  change(record: JournalRecord): boolean;
}> {
  const inRange = (micros: number): boolean =>
    micros >= (parameters.since ?? 0) && micros < (parameters.until ?? Infinity);
  let isBelow = (_object: ObjectName): boolean => false;
  if (parameters.tree) {
    const { index, graph } = await live.use();
    const roots = graph.roots(
      [...index.lanes()].filter((lane) => filter.object(lane)),
      filter,
    );
    isBelow = (below) => graph.ancestors(below).some((each) => roots.has(each));
  }
  const object = (name: ObjectName): boolean => filter.object(name) || isBelow(name);
  return {
    facet: filter.facet,
    object,
    change: (record) =>
      inRange(record.time) &&
      object(record) &&
      filter.facet({
        ...record,
        reason: record.type,
        controller: record.managers?.[0] ?? "",
        node: record.kind === "Node" ? record.name : "",
        resource: record.group === "" ? record.resource : `${record.resource}.${record.group}`,
      }),
  };
}
