// The event timeline of a server: served with the page, or where --runtime-config asks for it, and the limits of
// events. Where these are switched off nothing of them exists.
import { join } from "node:path";
import type { Audit } from "#audit";
import type { Authorizer } from "#authz";
import type { Clock, Log, Metrics } from "#base";
import { timelineGroup } from "#dialect";
import {
  type ApiCall,
  type PathHandler,
  type VirtualGroup,
  type VirtualResource,
  notServed,
  versionsSwitchedOn,
} from "#endpoints";
import type { Reply } from "#http";
import type { Resource } from "#registry";
import type { Store } from "#store";
import {
  type DefinedKinds,
  EventSummaries,
  Kinds,
  ObjectJournal,
  Writers,
  derivedInMemory,
  journalFiles,
  timeline,
} from "#timeline";
import { timelineMetrics } from "../metrics/timeline-metrics.ts";
import { eventKeeping } from "../storage/event-limits.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface TimelineParts {
  readonly settings: ApiserverSettings;
  readonly resources: readonly Resource[];
  readonly definitions: DefinedKinds;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** A store that the caller has opened; without one it is in the data directory, or elsewhere. */
  readonly given: Store | undefined;
}

export interface OpenTimeline {
  readonly paths: readonly PathHandler[];
  /** Answers where the group is listed in discovery and so found there. */
  answer(call: ApiCall): Promise<Reply>;
  /** The page was opened: whoever did will ask. */
  opened(): void;
  /** The same, with the timeline told who writes what. */
  observed(audit: Audit | undefined): Audit | undefined;
  /** Begins to keep events within their limits; resolves once they are. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function openTimeline(parts: TimelineParts): Promise<OpenTimeline> {
  const { settings, resources, definitions, authorizer, clock, log, metrics, signal } = parts;
  const keeping = eventKeeping(parts);
  const start = (): Promise<void> => keeping.start();
  if (!settings.ui && !isListed(settings.runtimeConfig))
    return {
      paths: [],
      answer: async () => {
        throw notServed();
      },
      opened: () => undefined,
      observed: (audit) => audit,
      start,
      stop: async () => undefined,
    };
  const kinds = new Kinds(resources, definitions);
  const writers = new Writers();
  const journal = new ObjectJournal({
    kinds,
    clock,
    log,
    signal,
    keepMilliseconds: settings.eventTtl,
    maxBytes: settings.timelineMaxBytes,
    files: parts.given ? undefined : filesFor(settings, log),
    // What is encrypted in the store must not lie beside it in the clear.
    valuesInFiles: settings.encryptionProviderConfig === "",
    writers,
  });
  await journal.start();
  timelineMetrics(metrics, journal);
  const events = resources.find(({ strategy }) => strategy.resource === "events")!;
  const derived = events.store.local?.(events.prefix)?.derived ?? derivedInMemory();
  const summaries = new EventSummaries({ events: events.source, derived, clock, signal });
  const { minRequestTimeout: minRequestTimeoutSeconds } = settings;
  const { handle, warm } = timeline({
    events,
    summaries,
    kinds,
    journal,
    authorizer,
    clock,
    closing: signal,
    minRequestTimeoutSeconds,
    keeping,
  });
  return {
    paths: [handle],
    answer: async (call) => {
      const reply = await handle(call);
      if (!reply) throw notServed();
      return reply;
    },
    opened: warm,
    observed: (audit) => {
      if (!audit) return undefined;
      const { sink } = audit;
      const write: typeof sink.write = (event) => {
        writers.observe(event);
        return sink.write(event);
      };
      return { ...audit, sink: { ...sink, write } };
    },
    start: async () => {
      const summedUp = async (): Promise<void> => {
        await summaries.start();
        const count = events.source.count();
        if (count >= fewestWarmed && count <= mostWarmed) warm();
      };
      summedUp().catch((error: unknown) =>
        log.error("events are not summed up; the timeline reads them when it is first asked", {
          error: (error as Error).message,
        }),
      );
      await start();
    },
    stop: async () => {
      await summaries.stop();
      await journal.stop();
    },
  };
}

/**
 * From so many events on the index is made at the start, for whoever looks first; with fewer that is done in no time,
 * and with more it would take memory that nobody may ask for.
 */
const fewestWarmed = 10_000;
const mostWarmed = 250_000;

const isListed = (runtimeConfig: ApiserverSettings["runtimeConfig"]): boolean =>
  versionsSwitchedOn(runtimeConfig).includes(`${timelineGroup}/v1`);

/** The group as discovery lists it; only where --runtime-config asks for it, clients see the release's groups else. */
export function timelineGroups(
  runtimeConfig: ApiserverSettings["runtimeConfig"],
  answer: OpenTimeline["answer"],
): readonly VirtualGroup[] {
  if (!isListed(runtimeConfig)) return [];
  const of = (path: string, kind: string, verbs: readonly string[]): VirtualResource => ({
    path,
    kind,
    namespaced: true,
    verbs,
    handle: answer,
  });
  const endpoints = [
    of("timelines", "Timeline", ["list", "watch"]),
    of("lanes", "LaneList", ["list"]),
    of("buckets", "BucketList", ["list"]),
  ];
  return [{ group: timelineGroup, branded: false, version: "v1", endpoints }];
}

const segments = 8;

/** Beside the embedded store; a store elsewhere has no folder here. */
function filesFor({ storeServers, dataDir, timelineMaxBytes }: ApiserverSettings, log: Log) {
  if (storeServers.length > 0 || dataDir === "" || timelineMaxBytes === 0) return undefined;
  try {
    return journalFiles(join(dataDir, "timeline"), timelineMaxBytes / segments);
  } catch (error) {
    log.error("changes of objects cannot be kept on disk; they are kept in memory", {
      error: (error as Error).message,
    });
    return undefined;
  }
}
