// The entries of a query in time order, one page at a time.
import { TimeSlice, type Caller } from "#base";
import { entryOf } from "./entry.ts";
import { lanesFor } from "./lanes.ts";
import type { Kinds } from "./kinds.ts";
import { placeToken } from "./parameters.ts";
import type { Point } from "./point-table.ts";
import { type Selection, visitPoints } from "./selection.ts";
import type { TimelineEntry, TimelineLane } from "./wire.ts";

export interface TimelinePage {
  readonly items: readonly TimelineEntry[];
  readonly continue?: string;
  readonly tree?: readonly TimelineLane[];
}

/**
 * Maximum number of points a text search examines before it returns what it has found; the rest is another
 * page.
 */
const maxExamined = 20_000;

export async function timelinePage(selection: Selection, caller?: Caller): Promise<TimelinePage> {
  const { parameters, kinds } = selection;
  const slice = new TimeSlice(caller);
  const found: Point[] = [];
  const has = textFilter(parameters.text);
  const tree = parameters.tree ? lanesFor(selection).slice(0, parameters.limit) : undefined;
  let examined = 0;
  let next: Point | undefined;
  let last: Point | undefined;
  const visit = (point: Point): boolean => {
    if (found.length === parameters.limit || examined++ === maxExamined) {
      next = point;
      return true;
    }
    last = point;
    if (has(point, kinds)) found.push(point);
    return false;
  };
  visitPoints(selection, visit, parameters.continue);
  const items: TimelineEntry[] = [];
  for (const point of found) {
    items.push(entryOf(point, kinds));
    if (slice.tick()) await slice.yield();
  }
  return { items, ...(next && last && { continue: placeToken(last) }), ...(tree && { tree }) };
}

/** Searches the encoded bytes first, and parses only possible matches. */
function textFilter(text: string): (point: Point, kinds: Kinds) => boolean {
  if (text === "") return () => true;
  const plain = /^[ !#-[\]-~]*$/.test(text);
  return (point, kinds) => {
    const { record } = point;
    if (plain && record.from === "event" && !record.item.json.toString("latin1").toLowerCase().includes(text))
      return false;
    return entryHas(entryOf(point, kinds), text);
  };
}

export const entryHas = ({ note, reason, object }: TimelineEntry, text: string): boolean =>
  [note, reason, object.name].some((value) => value.toLowerCase().includes(text));
