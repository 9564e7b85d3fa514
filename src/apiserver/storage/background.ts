// Background tasks of the storage: compaction of old revisions, and the counting of objects and bytes.
import type { Clock, Log, Metrics } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { Resource } from "#registry";
import { type Store, compactPeriodically } from "#store";
import { storeMetrics } from "../metrics/store-metrics.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface BackgroundOptions {
  readonly dialect: Dialect;
  readonly store: Store;
  /** Stores of individual resources. */
  readonly otherStores: readonly Store[];
  readonly resources: readonly Resource[];
  readonly settings: ApiserverSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** Resolves when all tasks have ended after the signal. */
export async function background({
  dialect,
  store,
  otherStores,
  resources,
  settings,
  clock,
  log,
  metrics,
  signal,
}: BackgroundOptions): Promise<void> {
  storeMetrics({
    metrics,
    clock,
    signal,
    counts: () => counts(resources, dialect),
    size: async () => (await store.status()).bytes,
    endpoint: settings.storeServers.find((address) => /^https?:/.test(address)) ?? "embedded",
    countEveryMilliseconds: settings.storeCountMetricPollPeriod,
    sizeEveryMilliseconds: settings.storeDbMetricPollInterval,
  });
  const compact = (each: Store): Promise<void> =>
    compactPeriodically({
      store: each,
      clock,
      signal,
      intervalSeconds: settings.storeCompactionInterval / 1000,
      onError: (error) =>
        log.warn("old revisions could not be compacted; retrying", {
          error: (error as Error).message,
        }),
    });
  await Promise.all([store, ...otherStores].map(compact));
}

async function* counts(
  resources: readonly Resource[],
  dialect: Dialect,
): AsyncGenerator<readonly [string, number]> {
  for (const resource of resources) {
    const { strategy, source, prefix } = resource;
    const group = groupName(dialect, strategy.hub.kind);
    const name = group === "" ? strategy.resource : `${strategy.resource}.${group}`;
    const cached = source.count();
    if (cached > 0) yield [name, cached];
    else {
      const page = await resource.store.read({ prefix, limit: 1 });
      yield [name, page.entries.length + page.remaining];
    }
  }
}
