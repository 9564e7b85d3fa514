// Parses and validates the query parameters of the timeline's resources.
import {
  DurationError,
  type Selector,
  badRequest,
  durationMillis,
  fieldErrorText,
  invalidValue,
  parseLabelSelector,
  selector,
} from "#base";
import type { Query } from "#http";
import { microsOf } from "./stored-event.ts";

export type TimelineResource = "timelines" | "lanes" | "buckets";
export const groupings = ["type", "reason", "controller", "kind", "namespace", "node"] as const;
export type Grouping = (typeof groupings)[number];

/** The values to match; undefined matches any. */
export type ValueSet = ReadonlySet<string> | undefined;

export interface TimelineParameters {
  /** The namespace in the request path; empty for all. */
  readonly path: string;
  readonly namespace: ValueSet;
  readonly group: ValueSet;
  /** Kinds or resources, in lower case. */
  readonly kind: ValueSet;
  readonly name: ValueSet;
  readonly uid: ValueSet;
  /** Matched against the labels of live objects. */
  readonly labels: Selector | undefined;
  readonly tree: boolean;
  readonly type: ValueSet;
  readonly reason: ValueSet;
  readonly controller: ValueSet;
  readonly node: ValueSet;
  /** Search text in lower case; empty matches any. */
  readonly text: string;
  /** The time range in microseconds; `since` is inclusive, `until` exclusive. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly continue: Place | undefined;
  readonly sort: "owner" | "warnings" | "latest";
  readonly points: number | undefined;
  readonly intervalMicros: number | undefined;
  readonly by: readonly Grouping[];
  readonly watch: boolean;
  readonly cursor: Cursor | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** The end of a page: a position in time order, or a number of lanes. */
export interface Place {
  readonly time: number;
  readonly sequence: number;
}

/**
 * A position in the stream: everything up to this revision of the events and this journal record has been
 * seen.
 */
export interface Cursor {
  readonly events: number;
  readonly changes: number;
}

const defaultLimit = 500;
const maxLimit = 5000;
const maxPoints = 2000;

const common =
  "kind group name uid labelSelector tree namespace since until type reason controller node pretty timeout timeoutSeconds";
const allowedParameters: Readonly<Record<TimelineResource, ReadonlySet<string>>> = {
  timelines: new Set(`${common} text order limit continue watch cursor`.split(" ")),
  lanes: new Set(`${common} limit continue sort points`.split(" ")),
  buckets: new Set(`${common} points interval by`.split(" ")),
};

/** Parses the query. Throws a 400 that names the field and the value. */
export function parseParameters(
  resource: TimelineResource,
  path: string,
  query: Query,
  nowMillis: number,
): TimelineParameters {
  for (const name of query.names())
    if (!allowedParameters[resource].has(name))
      throw bad(name, query.get(name), `is not a parameter of ${resource}`);
  const since = time(query, "since", nowMillis);
  const until = time(query, "until", nowMillis);
  if (since !== undefined && until !== undefined && since >= until)
    throw bad("until", query.get("until"), "must be later than since");
  const tree = boolean(query, "tree");
  const labels = labelSelector(query);
  if (tree && !query.has("name") && !query.has("uid") && !labels)
    throw bad("tree", query.get("tree"), "needs the name or uid of the object at the root");
  if (path !== "" && query.has("namespace"))
    throw bad("namespace", query.get("namespace"), "may not be given where the path names one");
  if (query.has("points") && query.has("interval"))
    throw bad("interval", query.get("interval"), "may not be given together with points");
  return {
    path,
    namespace: valueSet(query, "namespace"),
    group: valueSet(query, "group"),
    kind: valueSet(query, "kind", (value) => value.toLowerCase()),
    name: valueSet(query, "name"),
    uid: valueSet(query, "uid"),
    labels,
    tree,
    type: valueSet(query, "type"),
    reason: valueSet(query, "reason"),
    controller: valueSet(query, "controller"),
    node: valueSet(query, "node"),
    text: (query.get("text") ?? "").toLowerCase(),
    since,
    until,
    newestFirst: oneOf(query, "order", ["oldest", "newest"]) === "newest",
    limit: wholeNumber(query, "limit", maxLimit) ?? defaultLimit,
    continue: place(query),
    sort: oneOf(query, "sort", ["owner", "warnings", "latest"]),
    points: wholeNumber(query, "points", maxPoints),
    intervalMicros: interval(query),
    by: groupedBy(query),
    watch: boolean(query, "watch"),
    cursor: cursor(query),
    timeoutSeconds: wholeNumber(query, "timeoutSeconds", 2 ** 31 - 1),
  };
}

const bad = (field: string, value: unknown, detail: string) =>
  badRequest(fieldErrorText(invalidValue(field, value ?? "", detail)));

function valueSet(query: Query, name: string, form = (value: string): string => value): ValueSet {
  if (!query.has(name)) return undefined;
  const values = query.all(name).flatMap((value) => value.split(","));
  // The core group has an empty name, so an empty value is meaningful only for `group`.
  if (name !== "group" && values.includes("")) throw bad(name, "", "must not be empty");
  return new Set(values.map(form));
}

function labelSelector(query: Query): Selector | undefined {
  const text = query.get("labelSelector");
  if (text === undefined || text === "") return undefined;
  try {
    return selector(parseLabelSelector(text), []);
  } catch (error) {
    throw bad("labelSelector", text, (error as Error).message);
  }
}

function boolean(query: Query, name: string): boolean {
  const text = query.get(name);
  if (text === undefined || text === "false" || text === "0") return false;
  if (text === "true" || text === "1" || text === "") return true;
  throw bad(name, text, "must be true or false");
}

/** Parses a whole number; clients request no limit with 0. */
function wholeNumber(query: Query, name: string, most: number): number | undefined {
  const text = query.get(name);
  if (text === undefined || text === "" || text === "0") return undefined;
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) > most)
    throw bad(name, text, `must be a whole number from 1 to ${most}`);
  return Number(text);
}

function oneOf<T extends string>(query: Query, name: string, values: readonly [T, ...T[]]): T {
  const text = query.get(name);
  if (text === undefined) return values[0];
  const found = values.find((value) => value === text);
  if (!found) throw bad(name, text, `must be one of ${values.join(", ")}`);
  return found;
}

function time(query: Query, name: string, nowMillis: number): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const at = microsOf(text);
  if (at !== undefined) return at;
  const before = duration(text);
  if (before === undefined)
    throw bad(name, text, "must be a time such as 2006-01-02T15:04:05Z, or a duration before now such as 1h");
  return (nowMillis - before) * 1000;
}

function interval(query: Query): number | undefined {
  const text = query.get("interval");
  if (text === undefined) return undefined;
  const millis = duration(text);
  if (!millis || millis < 1) throw bad("interval", text, "must be a duration such as 10s, at least 1ms");
  return millis * 1000;
}

function duration(text: string): number | undefined {
  try {
    const millis = durationMillis(text);
    return millis >= 0 ? millis : undefined;
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}

function groupedBy(query: Query): readonly Grouping[] {
  const names = query.all("by").flatMap((value) => value.split(","));
  return names.length === 0
    ? ["type"]
    : [...new Set(names)].map((value) => {
        const found = groupings.find((each) => each === value);
        if (!found) throw bad("by", value, `must be of ${groupings.join(", ")}`);
        return found;
      });
}

export const placeToken = ({ time, sequence }: Place): string => `${time}.${sequence}`;
export const cursorToken = ({ events, changes }: Cursor): string => `${events}.${changes}`;

function place(query: Query): Place | undefined {
  const [time, sequence] = token(query, "continue") ?? [];
  return time === undefined ? undefined : { time, sequence: sequence! };
}

function cursor(query: Query): Cursor | undefined {
  const [events, changes] = token(query, "cursor") ?? [];
  return events === undefined ? undefined : { events, changes: changes! };
}

function token(query: Query, name: string): [number, number] | undefined {
  const text = query.get(name);
  if (text === undefined || text === "") return undefined;
  const found = /^(-?[0-9]{1,16})\.([0-9]{1,16})$/.exec(text);
  if (!found) throw bad(name, text, "must be one that the server gave");
  return [Number(found[1]), Number(found[2])];
}
