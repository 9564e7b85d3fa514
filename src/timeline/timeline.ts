// Serves the timeline's resources: parses the query, determines what may be shown, and responds.
import type { Authorizer } from "#authz";
import type { User } from "#authn";
import { type Clock, methodNotAllowed } from "#base";
import { timelineGroup } from "#dialect";
import { type ApiCall, type PathHandler, notServed } from "#endpoints";
import type { Reply } from "#http";
import type { Resource } from "#registry";
import { bucketsOf } from "./buckets.ts";
import type { EventSummaries } from "./event-summaries.ts";
import { type Filter, filterFor } from "./filter.ts";
import { follow } from "./follow.ts";
import type { Journal } from "./journal.ts";
import type { Kinds } from "./kinds.ts";
import { lanePage } from "./lanes.ts";
import { LiveIndex } from "./live-index.ts";
import {
  type TimelineParameters,
  type TimelineResource,
  cursorToken,
  placeToken,
  parseParameters,
} from "./parameters.ts";
import { select } from "./selection.ts";
import { timeText } from "./stored-event.ts";
import { timelinePage } from "./timelines.ts";
import type { BucketList, LaneList, Missing, Timeline } from "./wire.ts";

export interface TimelineOptions {
  /** The resource that stores events. */
  readonly events: Resource;
  readonly summaries: Pick<EventSummaries, "read">;
  readonly kinds: Kinds;
  readonly journal: Journal;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  /** Minimum duration of watches that do not request a shorter one. */
  readonly minRequestTimeoutSeconds: number;
  /** Counts of events that were deleted or folded before they expired. */
  readonly retention: { evicted(): number; folded(): number };
}

const version = "v1";
const apiVersion = `${timelineGroup}/${version}`;
const timelineResources: ReadonlySet<string> = new Set<TimelineResource>(["timelines", "lanes", "buckets"]);

export interface ServedTimeline {
  readonly handle: PathHandler;
  /** Builds the index in advance, if it does not exist. */
  warm(): void;
}

export function timeline(options: TimelineOptions): ServedTimeline {
  const { kinds, journal, authorizer, clock, closing, retention } = options;
  const events = options.events.source;
  const live = new LiveIndex({
    events,
    rows: () => options.summaries.read(),
    journal,
    clock,
    signal: closing,
  });

  const handle: PathHandler = async (call) => {
    const { target } = call;
    if (!target.isResource || target.group !== timelineGroup) return undefined;
    if (
      target.version !== version ||
      !timelineResources.has(target.resource) ||
      target.subresource !== "" ||
      target.named
    )
      throw notServed();
    const resource = target.resource as TimelineResource;
    const watching = target.verb === "watch";
    if (call.method !== "GET" || (target.verb !== "list" && !(watching && resource === "timelines")))
      throw methodNotAllowed();
    kinds.refresh();
    const parameters = parseParameters(resource, target.namespace, call.query, clock.now());
    const access = accessOf(call, parameters);
    const filter = filterFor(parameters, kinds, access.mayGet);
    if (watching) {
      await access.ask(kinds.groupResources());
      return follow({ options, events, journal, kinds, live, parameters, filter });
    }
    return await list(resource, call, parameters, filter, access);
  };
  // Errors are reported to the first request that uses the index.
  const warm = (): void => void live.use().catch(() => undefined);
  return { handle, warm };

  async function list(
    resource: TimelineResource,
    call: ApiCall,
    parameters: TimelineParameters,
    filter: Filter,
    access: Access,
  ): Promise<Reply> {
    const { index, graph } = await live.use();
    await access.ask(kinds.resourcesOf(index.facets.all()));
    const nowMicros = clock.now() * 1000;
    const selection = select({ index, graph, kinds, parameters, filter, mayGet: access.mayGet, nowMicros });
    const cursor = cursorToken({ events: events.revision(), changes: journal.sequence });
    const missing: Missing = {
      eventsEvicted: retention.evicted(),
      eventsFolded: retention.folded(),
      changesDropped: journal.dropped,
      changesSince: timeText(journal.since),
      withheld: [...index.facets.resources()].filter((each) => !access.mayGet(each)).sort(),
    };
    if (resource === "buckets") {
      const { intervals, groups } = bucketsOf(selection);
      const answer: BucketList = {
        kind: "BucketList",
        apiVersion,
        metadata: { cursor },
        missing,
        start: timeText(intervals.start),
        intervalSeconds: intervals.width / 1e6,
        intervals: intervals.count,
        groups,
      };
      return json(answer);
    }
    if (resource === "lanes") {
      const { start, end, intervalMicros, total, items, next } = lanePage(selection);
      const answer: LaneList = {
        kind: "LaneList",
        apiVersion,
        metadata: {
          cursor,
          ...(next !== undefined && { continue: placeToken({ time: next, sequence: 0 }) }),
        },
        missing,
        start: timeText(start),
        end: timeText(end),
        ...(intervalMicros !== undefined && { intervalSeconds: intervalMicros / 1e6 }),
        total,
        items,
      };
      return json(answer);
    }
    const { items, tree, continue: more } = await timelinePage(selection, call);
    const answer: Timeline = {
      kind: "Timeline",
      apiVersion,
      metadata: { cursor, ...(more !== undefined && { continue: more }) },
      missing,
      ...(tree && { tree }),
      items,
    };
    return json(answer);
  }

  function accessOf(call: ApiCall, { path }: TimelineParameters): Access {
    const known = new Map<string, boolean>();
    return {
      mayGet: (resource) => known.get(resource) === true,
      ask: async (resources_) => {
        for (const resource of resources_)
          if (!known.has(resource)) known.set(resource, await decide(call.user!, resource, path));
      },
    };
  }

  async function decide(user: User, groupResource: string, namespace: string): Promise<boolean> {
    const served = kinds.byGroupResource(groupResource);
    if (!served) return false;
    const { group, plural, resource } = served;
    const { verdict } = await authorizer.decide({
      user,
      verb: "get",
      resource: {
        group,
        version: resource.endpoints[0]!.version,
        resource: plural,
        subresource: "",
        namespace: resource.namespaced ? namespace : "",
        name: "",
      },
    });
    return verdict === "allow";
  }
}

interface Access {
  mayGet(resource: string): boolean;
  /** Determines access to these resources. */
  ask(resources: Iterable<string>): Promise<void>;
}

const json = (body: object): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: Buffer.from(`${JSON.stringify(body)}\n`),
});
