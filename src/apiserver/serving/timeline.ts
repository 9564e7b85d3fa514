// Wires the event timeline and the limits of stored events to a server. The timeline is served with the web
// page, or if --runtime-config enables it; parts that are switched off are not created.
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
  /** A store opened by the caller; otherwise the store is in the data directory or remote. */
  readonly given: Store | undefined;
}

export interface OpenTimeline {
  readonly paths: readonly PathHandler[];
  /** Serves a request for the group that discovery lists. */
  answer(call: ApiCall): Promise<Reply>;
  /** Prepares the index, since a client that opens the page is going to request the timeline. */
  opened(): void;
  /** Wraps the audit sink so that the timeline learns which user makes each write. */
  observed(audit: Audit | undefined): Audit | undefined;
  /** Starts to enforce the limits of events; resolves once they are met. */
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
    // Values that are encrypted in the store must not be written to the journal in plain text.
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
    retention: keeping,
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
      const startSummaries = async (): Promise<void> => {
        await summaries.start();
        const count = events.source.count();
        if (count >= minWarmedEvents && count <= maxWarmedEvents) warm();
      };
      startSummaries().catch((error: unknown) =>
        log.error("event summaries are not available; the timeline reads the events on the first request", {
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
 * Range of event counts for which the index is built at start, so that the first request is fast. With fewer
 * events it is built quickly on demand; with more it might take memory for a timeline that is never
 * requested.
 */
const minWarmedEvents = 10_000;
const maxWarmedEvents = 250_000;

const isListed = (runtimeConfig: ApiserverSettings["runtimeConfig"]): boolean =>
  versionsSwitchedOn(runtimeConfig).includes(`${timelineGroup}/v1`);

/**
 * Returns the timeline's group for discovery. It is listed only if --runtime-config enables it, so that
 * clients otherwise see exactly the groups of the release.
 */
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

/** The journal's files are next to the embedded store; with a remote store there is no local directory. */
function filesFor({ storeServers, dataDir, timelineMaxBytes }: ApiserverSettings, log: Log) {
  if (storeServers.length > 0 || dataDir === "" || timelineMaxBytes === 0) return undefined;
  try {
    return journalFiles(join(dataDir, "timeline"), timelineMaxBytes / segments);
  } catch (error) {
    log.error("object changes cannot be stored on disk; they are kept in memory only", {
      error: (error as Error).message,
    });
    return undefined;
  }
}
