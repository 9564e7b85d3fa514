// The timeline for a terminal: one lane per object below its owner, then the entries in order.
//
//   Deployment/web        +~·················
//   └ ReplicaSet/web-1    ·+·················
//     └ Pod/web-1-a       ··+·!!!·····-······
import type { Timeline, TimelineEntry, TimelineLane, TimelineObject } from "#timeline";
import { plain } from "../output.ts";

export interface ViewOptions {
  /** Width of the terminal in columns. */
  readonly width: number;
  /** Range in Unix milliseconds; entries outside are clamped to it. */
  readonly since: number;
  readonly until: number;
}

/** Signs by precedence: of several in one column the last one is shown. */
const signs: readonly (readonly [type: string, sign: string])[] = [
  ["Changed", "~"],
  ["Created", "+"],
  ["Deleted", "-"],
  ["Warning", "!"],
];
const legend = "+ created   ~ changed   - deleted   * event   ! warning";

export function laneView(timeline: Timeline, options: ViewOptions): string {
  const { items, missing } = timeline;
  if (items.length === 0) return "No events in this time range.\n";
  const lanes = timeline.tree ?? [];
  const rows = (lanes.length > 0 ? ordered(lanes) : ungrouped(items)).map(({ object, level }) => ({
    object,
    label: `${"  ".repeat(Math.max(level - 1, 0))}${level > 0 ? "└ " : ""}${plain(nameOf(object))}`,
  }));
  const labels = Math.min(Math.max(...rows.map(({ label }) => label.length)), Math.floor(options.width / 2));
  const columns = Math.max(options.width - labels - 2, 10);
  const entries = Map.groupBy(items, ({ object }) => idOf(object));
  const lines = rows.map(
    ({ object, label }) =>
      `${fitted(label, labels)}  ${strip(entries.get(idOf(object)) ?? [], columns, options)}`,
  );
  const missingCount = missing.eventsEvicted + missing.changesDropped;
  return [
    ...lines,
    `${" ".repeat(labels + 2)}${axis(columns, options)}`,
    "",
    legend,
    "",
    ...table(items),
    ...(timeline.metadata.continue === undefined ? [] : ["", `Only the newest ${items.length} are shown.`]),
    ...(missingCount > 0 ? ["", `${missingCount} older entries were dropped to limit memory.`] : []),
    ...(missing.eventsFolded > 0 ? ["", `${missing.eventsFolded} events were folded into series.`] : []),
    ...(missing.withheld.length > 0
      ? ["", `Changes are hidden, since you may not read: ${missing.withheld.join(", ")}.`]
      : []),
    "",
  ].join("\n");
}

const nameOf = ({ kind, name }: TimelineObject): string => `${kind}/${name}`;
const idOf = ({ uid, kind, namespace = "", name }: TimelineObject): string =>
  uid ?? `${kind}/${namespace}/${name}`;

/** Returns objects in tree order, each below its owner if that is shown. */
function ordered(lanes: readonly TimelineLane[]): { object: TimelineObject; level: number }[] {
  const shown = new Set(lanes.map(({ object }) => object.uid));
  const below = new Map<string | undefined, TimelineLane[]>();
  for (const lane of lanes) {
    const [owner] = lane.owners;
    const parent = owner && shown.has(owner.uid) && owner.uid !== lane.object.uid ? owner.uid : undefined;
    below.getOrInsertComputed(parent, () => []).push(lane);
  }
  const found: { object: TimelineObject; level: number }[] = [];
  const visit = (parent: string | undefined, level: number): void => {
    for (const { object } of below.get(parent) ?? []) {
      found.push({ object, level });
      if (object.uid !== undefined && level < 16) visit(object.uid, level + 1);
    }
  };
  visit(undefined, 0);
  return found;
}

function ungrouped(items: readonly TimelineEntry[]): { object: TimelineObject; level: number }[] {
  const found = new Map<string, TimelineObject>();
  for (const { object } of items) found.set(idOf(object), object);
  return [...found.values()].map((object) => ({ object, level: 0 }));
}

/** Returns the lane of one object. */
function strip(entries: readonly TimelineEntry[], columns: number, { since, until }: ViewOptions): string {
  const cells = Array.from({ length: columns }, () => "·");
  const rank = (sign: string): number => signs.findIndex(([, each]) => each === sign);
  for (const entry of entries) {
    const share = (Date.parse(entry.time) - since) / Math.max(until - since, 1);
    const at = Math.min(Math.max(Math.floor(share * columns), 0), columns - 1);
    const sign = signs.find(([type]) => type === entry.type)?.[1] ?? "*";
    if (cells[at] === "·" || cells[at] === "*" || rank(sign) > rank(cells[at]!)) cells[at] = sign;
  }
  return cells.join("");
}

function axis(columns: number, { since, until }: ViewOptions): string {
  const [from, to] = [clock(since), clock(until)];
  return `${from}${" ".repeat(Math.max(columns - from.length - to.length, 1))}${to}`;
}

const clock = (millis: number): string => new Date(millis).toISOString().slice(11, 19);

function table(items: readonly TimelineEntry[]): string[] {
  const rows = items.map((entry) => [
    entry.time.slice(0, 19).replace("T", " "),
    entry.type,
    plain(nameOf(entry.object)),
    plain(entry.reason),
    plain(entry.change?.user ?? entry.controller ?? ""),
    `${plain(entry.note)}${entry.series ? ` (${entry.series.edge} of ${entry.series.count})` : ""}`,
  ]);
  const all = [["TIME", "TYPE", "OBJECT", "REASON", "BY", "NOTE"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((at) => Math.min(Math.max(...all.map((row) => row[at]!.length)), 60));
  return all.map((row) =>
    row
      .map((cell, at) => (at < widths.length ? fitted(cell, widths[at]!) : cell))
      .join("  ")
      .trimEnd(),
  );
}

const fitted = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
