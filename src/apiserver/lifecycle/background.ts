// What runs beside the requests: old history is compacted away, objects and bytes are counted.
import type { Clock, Log, Metrics } from "#base";
import { groupName } from "#dialect";
import { compactPeriodically } from "#store";
import { storeMetrics } from "../metrics/store-metrics.ts";
import type { Core } from "../server.ts";
import type { ApiserverSettings } from "../settings-of.ts";

export interface BackgroundOptions {
  readonly core: Core;
  readonly settings: ApiserverSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** Resolves when all of it has ended, after the signal. */
export async function background({
  core,
  settings,
  clock,
  log,
  metrics,
  signal,
}: BackgroundOptions): Promise<void> {
  const { store } = core.options;
  storeMetrics({
    metrics,
    clock,
    signal,
    counts: () => counts(core),
    size: async () => (await store.status()).bytes,
    countEveryMilliseconds: settings.storeCountMetricPollPeriod,
    sizeEveryMilliseconds: settings.storeDbMetricPollInterval,
  });
  await compactPeriodically({
    store,
    clock,
    signal,
    intervalSeconds: settings.storeCompactionInterval / 1000,
    onError: (error) =>
      log.warn("old history could not be compacted; it is tried again", { error: (error as Error).message }),
  });
}

async function* counts({ resources, options }: Core): AsyncGenerator<readonly [string, number]> {
  for (const resource of resources.values()) {
    const { strategy, source, prefix } = resource;
    const group = groupName(options.dialect, strategy.hub.kind);
    const name = group === "" ? strategy.resource : `${strategy.resource}.${group}`;
    const cached = source.count();
    if (cached > 0) yield [name, cached];
    else {
      const page = await options.store.read({ prefix, limit: 1 });
      yield [name, page.entries.length + page.remaining];
    }
  }
}
