// Bounds the number of stored events in addition to their time to live: limits, and folding of repeated
// events. Both are off unless configured by flags.
import type { Event } from "#api";
import type { Clock, Log, Metrics } from "#base";
import type { Resource } from "#registry";
import { EventFolding, EventRetention, type EventLimits } from "#timeline";
import type { ApiserverSettings } from "../options/settings.ts";

export interface EventKeeping {
  /** Returns the number of events deleted before their expiry. */
  evicted(): number;
  folded(): number;
  /** Starts to watch the events; resolves once the stored events are within the limits. */
  start(): Promise<void>;
}

export interface EventKeepingOptions {
  readonly settings: ApiserverSettings;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

export function eventKeeping(options: EventKeepingOptions): EventKeeping {
  const { settings, resources, clock, log, metrics, signal } = options;
  const resource = resources.find(({ strategy }) => strategy.resource === "events")!;
  const events = resource.source;
  const keyOf = (key: string): string => key.slice(resource.prefix.length);
  const remove = async (key: string, revision: number): Promise<boolean> =>
    (await resource.write({ key: keyOf(key), value: null, expect: revision })).done;
  const limits = limitsOf(settings);
  const common = { events, remove, clock, log, signal };
  const retention = limits && new EventRetention({ ...common, limits, evicted: evictionCounter(metrics) });
  const folding =
    settings.eventFoldAfter === 0
      ? undefined
      : new EventFolding({
          ...common,
          most: settings.eventFoldAfter,
          replace: async (item, change) => {
            const event = resource.objectOf(item);
            change(event as unknown as Event);
            const { outcome } = await resource.writeObject(resource.encode(event), {
              key: keyOf(item.key),
              expect: item.revision,
              ...(settings.eventTtl > 0 && { ttlSeconds: settings.eventTtl / 1000 }),
            });
            return outcome.done;
          },
        });
  if (folding) foldMetrics(metrics, folding);
  return {
    evicted: () => retention?.evicted ?? 0,
    folded: () => folding?.folded ?? 0,
    start: async () => {
      await folding?.start();
      await retention?.start();
    },
  };
}

/** Returns undefined if no limit is configured. */
export function limitsOf(settings: ApiserverSettings): EventLimits | undefined {
  const typed = (type: "Normal" | "Warning") => ({
    count: settings.eventMaxCountPerType[type] ?? 0,
    bytes: settings.eventMaxBytesPerType[type] ?? 0,
  });
  const limits: EventLimits = {
    whole: { count: settings.eventMaxCount, bytes: settings.eventMaxBytes },
    namespace: { count: settings.eventMaxCountPerNamespace, bytes: settings.eventMaxBytesPerNamespace },
    types: { Normal: typed("Normal"), Warning: typed("Warning") },
  };
  const { whole, namespace, types } = limits;
  const any = [whole, namespace, types.Normal, types.Warning].some(({ count, bytes }) => count + bytes > 0);
  return any ? limits : undefined;
}

function evictionCounter(metrics: Metrics): (type: string, limit: string) => void {
  const evictions = metrics.counter({
    name: "apiserver_event_evictions_total",
    help: "Number of events deleted before their expiry because a limit was reached, by type and limit.",
    labels: ["type", "limit"],
    stability: "ALPHA",
  });
  return (type, limit) => evictions.with(type, limit).add();
}

function foldMetrics(metrics: Metrics, folding: EventFolding): void {
  const folded = metrics
    .counter({
      name: "apiserver_events_folded_total",
      help: "Number of events folded into an event series.",
      stability: "ALPHA",
    })
    .with();
  metrics.beforeScrape(() => void (folded.value = folding.folded));
}
