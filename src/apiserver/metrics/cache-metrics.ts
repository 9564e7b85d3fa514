// Statistics of the watch caches, exported per resource at each scrape.
import type { Counter, Family, Gauge, Metrics } from "#base";
import type { Resource } from "#registry";
import { ResourceCache } from "#watchcache";

/** `resources` is called at every scrape, since custom resources come and go. */
export function cacheMetrics(metrics: Metrics, resources: () => readonly Resource[]): void {
  const counter = (name: string, help: string, labels: readonly string[] = ["resource"]): Family<Counter> =>
    metrics.counter({ name, help, labels, stability: "ALPHA" });
  const gauge = (name: string, help: string): Family<Gauge> =>
    metrics.gauge({ name, help, labels: ["resource"], stability: "ALPHA" });
  const received = counter(
    "apiserver_watch_cache_events_received_total",
    "Number of events received by the watch cache, by resource.",
  );
  const fromStore = counter(
    "apiserver_storage_events_received_total",
    "Number of events received from the store, by resource.",
  );
  const undecoded = counter(
    "apiserver_storage_decode_errors_total",
    "Number of stored objects and events that could not be decoded, by resource.",
  );
  const dispatched = counter(
    "apiserver_watch_cache_events_dispatched_total",
    "Number of events dispatched by the watch cache, by resource.",
  );
  const initializations = counter(
    "apiserver_watch_cache_initializations_total",
    "Number of watch cache initializations, by resource.",
  );
  const initial = counter(
    "apiserver_init_events_total",
    "Number of initial events sent to watchers from the watch cache, by resource.",
  );
  const capacity = gauge(
    "watch_cache_capacity",
    "Maximum number of events in the history of the watch cache, by resource.",
  );
  const increases = counter(
    "watch_cache_capacity_increase_total",
    "Number of times the capacity of the watch cache was increased, by resource.",
  );
  const decreases = counter(
    "watch_cache_capacity_decrease_total",
    "Number of times the capacity of the watch cache was decreased, by resource.",
  );
  const bytes = gauge(
    "apiserver_watch_cache_object_bytes",
    "Size in bytes of the objects in the watch cache, by resource.",
  );
  const watchers = gauge(
    "apiserver_watch_cache_watchers",
    "Number of watchers served by the watch cache, by resource.",
  );
  const lists = counter(
    "apiserver_cache_list_total",
    "Number of list requests served from the watch cache, by resource prefix and index.",
    ["resource_prefix", "index"],
  );
  const fetched = counter(
    "apiserver_cache_list_fetched_objects_total",
    "Number of objects read from the watch cache for list requests, by resource prefix and index.",
    ["resource_prefix", "index"],
  );
  const returned = counter(
    "apiserver_cache_list_returned_objects_total",
    "Number of objects returned by list requests from the watch cache, by resource prefix.",
    ["resource_prefix"],
  );
  const storeLists = counter(
    "apiserver_storage_list_total",
    "Number of list requests served from the store, by resource.",
  );
  const storeFetched = counter(
    "apiserver_storage_list_fetched_objects_total",
    "Number of objects read from the store for list requests, by resource.",
  );
  const storeEvaluated = counter(
    "apiserver_storage_list_evaluated_objects_total",
    "Number of objects evaluated for list requests from the store, by resource.",
  );
  const storeReturned = counter(
    "apiserver_storage_list_returned_objects_total",
    "Number of objects returned by list requests from the store, by resource.",
  );
  metrics.beforeScrape(() => {
    for (const resource of resources()) {
      const { source, strategy, groupResource: name } = resource;
      if (!(source instanceof ResourceCache)) continue;
      const { stats } = source;
      received.with(name).value = stats.events;
      fromStore.with(name).value = stats.events;
      dispatched.with(name).value = stats.events;
      if (stats.unreadable > 0) undecoded.with(name).value = stats.unreadable;
      initializations.with(name).value = stats.initializations;
      capacity.with(name).set(source.historyCapacity);
      if (stats.capacityIncreases > 0) increases.with(name).value = stats.capacityIncreases;
      if (stats.capacityDecreases > 0) decreases.with(name).value = stats.capacityDecreases;
      bytes.with(name).set(stats.bytes);
      watchers.with(name).set(source.watchers());
      if (stats.initialEvents > 0) initial.with(name).value = stats.initialEvents;
      storeLists.with(name).value = stats.storeLists;
      for (const each of [storeFetched, storeEvaluated, storeReturned])
        each.with(name).value = stats.storeFetched;
      if (stats.lists === 0) continue;
      const prefix = `/${strategy.storagePath ?? strategy.resource}`;
      lists.with(prefix, "").value = stats.lists - stats.indexLists;
      if (stats.indexLists > 0) lists.with(prefix, "by selector").value = stats.indexLists;
      fetched.with(prefix, "").value = stats.fetched;
      returned.with(prefix).value = stats.returned;
    }
  });
}
