// The event timeline of a server: served with the page, or where --runtime-config asks for it, and the limits of
// events. Where these are switched off nothing of them exists.
import { join } from "node:path";
import type { Audit } from "#audit";
import type { Authorizer } from "#authz";
import type { Clock, Log, Metrics } from "#base";
import { timelineGroup } from "#dialect";
import { type PathHandler, versionsSwitchedOn } from "#endpoints";
import type { Resource } from "#registry";
import { type DefinedKinds, Kinds, ObjectJournal, Writers, journalFiles, timeline } from "#timeline";
import { timelineMetrics } from "../metrics/timeline-metrics.ts";
import { eventKeeping } from "../storage/event-limits.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface TimelineParts {
  readonly settings: ApiserverSettings;
  readonly resources: readonly Resource[];
  readonly defined: DefinedKinds;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Whether the store is the server's own, in its data directory. */
  readonly ownStore: boolean;
}

export interface OpenTimeline {
  readonly paths: readonly PathHandler[];
  /** The same, with the timeline told who writes what. */
  observed(audit: Audit | undefined): Audit | undefined;
  /** Begins to keep events within their limits; resolves once they are. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function openTimeline(parts: TimelineParts): Promise<OpenTimeline> {
  const { settings, resources, defined, authorizer, clock, log, metrics, signal } = parts;
  const keeping = eventKeeping(parts);
  const start = (): Promise<void> => keeping.start();
  if (!settings.ui && !versionsSwitchedOn(settings.runtimeConfig).includes(`${timelineGroup}/v1`))
    return { paths: [], observed: (audit) => audit, start, stop: async () => undefined };
  const kinds = new Kinds(resources, defined);
  const writers = new Writers();
  const journal = new ObjectJournal({
    kinds,
    clock,
    log,
    signal,
    keepMilliseconds: settings.eventTtl,
    maxBytes: settings.timelineMaxBytes,
    files: parts.ownStore ? filesFor(settings, log) : undefined,
    // What is encrypted in the store must not lie beside it in the clear.
    valuesInFiles: settings.encryptionProviderConfig === "",
    writers,
  });
  await journal.start();
  timelineMetrics(metrics, journal);
  const events = resources.find(({ strategy }) => strategy.resource === "events")!;
  const { minRequestTimeout: minRequestTimeoutSeconds } = settings;
  return {
    paths: [
      timeline({
        events,
        kinds,
        journal,
        authorizer,
        clock,
        closing: signal,
        minRequestTimeoutSeconds,
        keeping,
      }),
    ],
    observed: (audit) => {
      if (!audit) return undefined;
      const { sink } = audit;
      const write: typeof sink.write = (event) => {
        writers.observe(event);
        return sink.write(event);
      };
      return { ...audit, sink: { write, close: () => sink.close() } };
    },
    start,
    stop: () => journal.stop(),
  };
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
